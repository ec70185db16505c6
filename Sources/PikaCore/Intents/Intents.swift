import MLS
import Marmot
import Nostr

/// The requested changes to groups, from the request to the final commit, the groups where they may proceed, and the
/// renewal of this account's keys.
struct Intents: Sendable {
    /// The number of times that the commit of one change may lose before the change is abandoned.
    static let maximumLosses = 10

    /// The intents, by number.
    private var entries: [Int: GroupIntent] = [:]
    private var lastNumber = 0
    /// Groups whose intents may proceed, and groups that must be read first.
    private var due: Set<GroupID> = []
    private var blocked: Set<GroupID> = []
    /// Groups whose due departures could not be committed, with the epoch of the failure.
    private var failedDepartures: [GroupID: Epoch] = [:]
    private var renewals = KeyRenewals()

    // MARK: Contents

    var isEmpty: Bool { self.entries.isEmpty }
    var all: some Collection<GroupIntent> { self.entries.values }
    /// The requests of all intents.
    var requests: [RequestID] { self.entries.values.compactMap(\.request) }

    subscript(number: Int) -> GroupIntent? { self.entries[number] }

    /// Returns the intents of a group in the order of their requests.
    func all(in groupID: GroupID) -> [GroupIntent] {
        self.entries.values.filter { $0.groupID == groupID }.sorted { $0.number < $1.number }
    }

    /// Returns the unfinished intents of a group in the order of their requests.
    func open(in groupID: GroupID) -> [GroupIntent] { self.all(in: groupID).filter(\.isOpen) }

    func hasOpen(in groupID: GroupID) -> Bool {
        self.entries.values.contains { $0.groupID == groupID && $0.isOpen }
    }

    func hasOpen(_ goal: GroupIntent.Goal, in groupID: GroupID) -> Bool {
        self.entries.values.contains { $0.groupID == groupID && $0.goal == goal && $0.isOpen }
    }

    func contains(_ goal: GroupIntent.Goal, in groupID: GroupID) -> Bool {
        self.entries.values.contains { $0.groupID == groupID && $0.goal == goal }
    }

    /// Returns the intent that a commit belongs to.
    func intent(of commit: EventID) -> GroupIntent? { self.entries.values.first { $0.phase.commit == commit } }

    /// Returns the intent that a proposal belongs to.
    func intent(proposedBy event: EventID) -> GroupIntent? {
        self.entries.values.first { if case .proposed(event, _) = $0.phase { true } else { false } }
    }

    /// The proposals whose epoch has not ended, with their groups.
    var proposals: [(groupID: GroupID, event: EventID)] {
        self.entries.values.compactMap {
            if case .proposed(let event, _) = $0.phase { ($0.groupID, event) } else { nil }
        }
    }

    // MARK: Changes

    /// Creates an intent, durably; its group becomes due.
    mutating func add(
        _ goal: GroupIntent.Goal, in groupID: GroupID, missing: MissingPeers, successor: PublicKey? = nil,
        _ request: RequestID?, _ step: inout CoreStep
    ) {
        self.lastNumber += 1
        self.put(
            GroupIntent(
                number: self.lastNumber, groupID: groupID, goal: goal, missing: missing, successor: successor,
                request: request),
            &step)
        self.due.insert(groupID)
    }

    mutating func put(_ intent: GroupIntent, _ step: inout CoreStep) {
        self.entries[intent.number] = intent
        step.changes.append(.putMemo(intent.memo, intent.stored))
    }

    mutating func remove(_ intent: GroupIntent, _ step: inout CoreStep) {
        self.entries[intent.number] = nil
        step.changes.append(.putMemo(intent.memo, nil))
    }

    /// Requeues the unfinished intents of a group that switches to another state, where their commits are void.
    mutating func requeueAll(in groupID: GroupID, _ step: inout CoreStep) {
        for var intent in self.entries.values where intent.groupID == groupID && intent.isOpen {
            if intent.phase.commit != nil { intent.phase = .queued }
            self.put(intent, &step)
        }
        self.due.insert(groupID)
    }

    /// Requeues an intent whose commit lost. Returns false if it has lost too often.
    mutating func retry(_ intent: GroupIntent, as goal: GroupIntent.Goal, _ step: inout CoreStep) -> Bool {
        var intent = intent
        intent.goal = goal
        intent.formerCommit = intent.phase.commit ?? intent.formerCommit
        intent.phase = .queued
        intent.losses += 1
        guard intent.losses < Self.maximumLosses else { return false }
        self.put(intent, &step)
        return true
    }

    /// Requeues the intents of a group whose commits were abandoned for others that turned out to be invalid.
    mutating func requeueLost(in groupID: GroupID, _ step: inout CoreStep) {
        for var intent in self.all(in: groupID) {
            guard case .lost(let event) = intent.phase else { continue }
            intent.formerCommit = event
            intent.phase = .queued
            self.put(intent, &step)
        }
    }

    /// Assigns a commit that lost before, and won after all, to its intent again. The intent's present commit, if any,
    /// is void.
    mutating func reinstate(_ commit: EventID, in groupID: GroupID, _ step: inout CoreStep) {
        guard var intent = self.entries.values.first(where: { $0.groupID == groupID && $0.formerCommit == commit })
        else { return }
        intent.formerCommit = intent.phase.commit
        intent.phase = .committing(commit)
        self.put(intent, &step)
    }

    // MARK: Due groups

    mutating func resume(_ groupID: GroupID) { self.due.insert(groupID) }

    mutating func nextDueGroup() -> GroupID? { self.due.popFirst() }

    /// Defers a group until its relays have been read.
    mutating func block(_ groupID: GroupID) { self.blocked.insert(groupID) }

    /// Resumes a deferred group.
    mutating func unblock(_ groupID: GroupID) {
        if self.blocked.remove(groupID) != nil { self.due.insert(groupID) }
    }

    func hasQueued(in groupID: GroupID) -> Bool {
        self.entries.values.contains { $0.groupID == groupID && $0.phase == .queued }
    }

    /// Returns the queued intents in the order of their requests. Departures come first: any other commit would void
    /// the proposal of a member who may not repeat it.
    func queued(in groupID: GroupID) -> [GroupIntent] {
        self.entries.values.filter { $0.groupID == groupID && $0.phase == .queued }.sorted {
            ($0.goal == .commitDepartures ? 0 : 1, $0.number) < ($1.goal == .commitDepartures ? 0 : 1, $1.number)
        }
    }

    // MARK: Departures of others

    mutating func noteFailedDepartures(of groupID: GroupID, in epoch: Epoch?) {
        self.failedDepartures[groupID] = epoch
    }

    /// Whether the departures of others may be committed: not twice at once, nor again in the epoch of a failure.
    func mayCommitDepartures(of groupID: GroupID, in epoch: Epoch) -> Bool {
        self.failedDepartures[groupID] != epoch && !self.hasOpen(.commitDepartures, in: groupID)
    }

    // MARK: Renewals of keys

    /// Starts counting the age of keys in groups where it was not counted.
    mutating func startRenewals(in groups: some Sequence<GroupID>, _ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        self.renewals.start(groups, policy, &step)
    }

    /// Schedules a renewal after joining a group with a key package that others may have seen.
    ///
    /// - Parameter quiet: as for ``KeyRenewals/noteJoin(of:quiet:_:_:)``.
    mutating func noteJoin(
        of groupID: GroupID, quiet: Int64?, _ policy: SelfUpdatePolicy, _ step: inout CoreStep
    ) {
        self.renewals.noteJoin(of: groupID, quiet: quiet, policy, &step)
    }

    /// Whether a commit in a group postpones the renewal after joining it.
    func renewalAwaitsQuiet(in groupID: GroupID, nowMilliseconds: Int64) -> Bool {
        self.renewals.awaitsQuiet(groupID, nowMilliseconds: nowMilliseconds)
    }

    /// Postpones the renewal after joining until `quiet` milliseconds have passed after a commit.
    mutating func awaitQuiet(
        in groupID: GroupID, _ quiet: Int64, _ policy: SelfUpdatePolicy, _ step: inout CoreStep
    ) {
        self.renewals.awaitQuiet(groupID, quiet, policy, &step)
    }

    /// Restarts the age of the keys after founding a group, or after a commit of this account.
    ///
    /// - Parameter notBefore: Unix milliseconds before which they are not renewed, whatever the policy.
    mutating func noteRenewal(
        of groupID: GroupID, notBefore: Int64 = 0, _ policy: SelfUpdatePolicy, _ step: inout CoreStep
    ) {
        self.renewals.noteRenewal(of: groupID, notBefore: notBefore, policy, &step)
    }

    /// Postpones an automatic renewal that another member's commit displaced, but not indefinitely.
    mutating func postponeRenewal(of groupID: GroupID, _ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        self.renewals.postpone(groupID, policy, &step)
    }

    /// Returns the groups whose keys are due, in order; nil before the scheduled check.
    mutating func dueRenewals(_ policy: SelfUpdatePolicy, nowMilliseconds: Int64) -> [GroupID]? {
        self.renewals.dueGroups(policy, nowMilliseconds: nowMilliseconds)
    }

    /// Delays the next renewal in a due group.
    mutating func delayRenewal(of groupID: GroupID, _ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        self.renewals.delay(groupID, policy, &step)
    }

    /// Ends the renewals in a group that this account is no longer a member of.
    mutating func endRenewals(of groupID: GroupID, _ step: inout CoreStep) { self.renewals.remove(groupID, &step) }

    /// Schedules the next check of all keys, unless an earlier one is scheduled.
    mutating func scheduleRenewals(_ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        self.renewals.schedule(policy, &step)
    }

    /// Reads the stored age of a group's keys; false if it is malformed.
    mutating func restoreKeyAge(of groupID: GroupID, _ memo: Secret) -> Bool { self.renewals.restore(groupID, memo) }

    // MARK: Restart

    /// Reads a stored intent; nil if it is malformed. The stored group decides whether its commit or proposal still
    /// stands.
    mutating func restore(
        _ name: MemoName, _ memo: Secret, in groups: [GroupID: AccountGroup]
    ) -> GroupIntent? {
        guard var intent = GroupIntent(name, memo) else { return nil }
        let group = groups[intent.groupID]
        if case .committing(let event) = intent.phase, group?.pendingEvent != event {
            intent.formerCommit = event
            intent.phase = .queued
        }
        if case .lost(let event) = intent.phase {
            intent.formerCommit = event
            intent.phase = .queued
        }
        if case .proposed(_, let epoch) = intent.phase, group?.epoch != epoch { intent.phase = .queued }
        self.entries[intent.number] = intent
        self.lastNumber = max(self.lastNumber, intent.number)
        if intent.phase == .queued { self.due.insert(intent.groupID) }
        return intent
    }
}
