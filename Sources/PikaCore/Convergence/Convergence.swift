import MLS
import Marmot
import Nostr

/// Keeps this account in the same state of each group as the other members, and decides whether its own events may be
/// sent. The rule that chooses between branches depends on the protocol's generation; only its answers
/// (``BranchDecision``) are known here.
struct Convergence: Sendable {
    /// The identity of this copy of the account's state.
    private(set) var instance: StoredInstance
    /// The notice of the later copy to which this one yields.
    private(set) var successor: CopyNotice?
    var branches = Branches()
    private(set) var rollbacks = Rollbacks()
    var copies = CopiedGroups()
    private(set) var fence = CopyFence()
    private(set) var stateRollback = StateRollbackGuard()
    /// Groups with a pending commit that may or may not be on a relay.
    private(set) var unconfirmedCommits: Set<GroupID> = []
    /// Groups that this account was removed from recently.
    private var lingering: Set<GroupID> = []

    init(_ instance: StoredInstance = StoredInstance()) {
        self.instance = instance
    }

    // MARK: Copies of the account's state

    /// Whether the state was restored, so that other copies may have its keys.
    var mayHaveCopies: Bool { self.instance.generation > 0 }

    /// Whether another copy of this account has the private keys of a key package.
    func isCopied(_ package: StoredKeyPackage) -> Bool {
        package.createdAt <= UnixTime(milliseconds: self.instance.generation)
    }

    /// Becomes a new copy of the account, durably: its generation is later than any before.
    mutating func becomeCopy(_ step: inout CoreStep) {
        var id = [UInt8](repeating: 0, count: 16)
        for index in id.indices { id[index] = .random(in: .min ... .max, using: &step.random) }
        let (next, overflows) = self.instance.generation.addingReportingOverflow(1)
        self.instance = StoredInstance(
            id: id, generation: max(step.nowMilliseconds, overflows ? self.instance.generation : next))
        step.changes.append(.putInstance(self.instance))
    }

    /// Begins the search for other copies, and for own events that this state never sent.
    mutating func searchCopies(_ groups: Groups, nowMilliseconds time: Int64) {
        self.fence.start(atMilliseconds: time)
        self.stateRollback.start(groups)
    }

    /// Records a relay's events. Returns the notices to decrypt.
    mutating func receiveNotices(_ events: [Event], from relay: RelayURL) -> [Event] {
        self.fence.receive(events, from: relay)
    }

    /// Records that a notice was read, or was invalid.
    mutating func endNotice(_ id: EventID, at relay: RelayURL) { self.fence.endNotice(id, at: relay) }

    /// Returns the reaction to another copy's notice.
    mutating func verdict(
        on notice: CopyNotice, createdAt: UnixTime, isLive: Bool, now: UnixTime
    ) -> CopyFence.Verdict {
        self.fence.verdict(on: notice, createdAt: createdAt, isLive: isLive, instance: self.instance, now: now)
    }

    /// Records that a notice is sent to relays. Returns its time; nil while this copy does not search for
    /// others.
    mutating func announce(to relays: [RelayURL], now: UnixTime) -> UnixTime? {
        self.fence.announce(to: relays, now: now)
    }

    /// Remembers an own notice; each relay has one. Returns the stored form of all.
    mutating func rememberOwnNotice(_ id: EventID, relayCount: Int) -> Secret {
        self.fence.rememberOwn(id, relayCount: relayCount)
    }

    /// Reads the stored own notices; false if they are malformed.
    mutating func restoreOwnNotices(_ memo: Secret) -> Bool { self.fence.restoreOwn(memo) }

    /// Yields to a later copy: this one must stop.
    mutating func stop(for notice: CopyNotice) { self.successor = notice }

    // MARK: Own events that this state never sent

    /// Records that a relay of the group was read, or did not answer in spite of several attempts.
    mutating func noteRead(_ groupID: GroupID) { self.stateRollback.noteRead(groupID) }

    /// Returns the epoch of a message by this account that another copy, or a later state that was rolled back, has
    /// sent; nil for other events.
    mutating func unsentEpoch(of event: Event, in groupID: GroupID, now: UnixTime) -> Epoch? {
        self.stateRollback.unsentEpoch(of: event, in: groupID, now: now)
    }

    /// Whether a message of a group of the second generation is this account's, was sent after this state was stored, and
    /// not by it.
    func isUnsent(_ message: GroupMessage, in groupID: GroupID) -> Bool {
        self.stateRollback.isUnsent(message, in: groupID)
    }

    /// Whether this is the first evidence of a rolled-back state since the start.
    mutating func detectStateRollback() -> Bool { self.stateRollback.detect() }

    // MARK: Rollbacks by commits

    /// Reads a group's stored rollbacks; false if they are malformed.
    mutating func restoreRollbacks(of groupID: GroupID, _ memo: Secret) -> Bool {
        self.rollbacks.restore(groupID, memo)
    }

    /// Counts the rollback of an applied commit. Returns whether it begins a storm by its author.
    mutating func noteRollback(
        of groupID: GroupID, by committer: PublicKey, _ role: RollbackRole, _ step: inout CoreStep
    ) -> Bool {
        self.rollbacks.noteRollback(of: groupID, by: committer, role, &step)
    }

    /// Counts a commit by this account that lost its race before it was merged.
    mutating func noteLostRace(of groupID: GroupID, _ step: inout CoreStep) {
        self.rollbacks.noteLostRace(of: groupID, &step)
    }

    /// Whether own commits in a group wait after rollbacks; also schedules a wake-up for the end of the wait.
    mutating func backsOff(_ groupID: GroupID, _ step: inout CoreStep) -> Bool {
        self.rollbacks.backsOff(groupID, &step)
    }

    // MARK: Unconfirmed commits

    /// Records that it is unknown whether a relay has a group's pending commit.
    mutating func noteUnconfirmedCommit(of groupID: GroupID) { self.unconfirmedCommits.insert(groupID) }

    /// Records that a group's pending commit was decided or replaced.
    mutating func endUnconfirmedCommit(of groupID: GroupID) { self.unconfirmedCommits.remove(groupID) }

    // MARK: Removed groups

    /// Whether a group stays subscribed after this account's removal, since messages sent before may arrive late.
    func isLingering(_ groupID: GroupID) -> Bool { self.lingering.contains(groupID) }

    mutating func linger(_ groupID: GroupID) { self.lingering.insert(groupID) }

    /// Returns whether the group was lingering.
    mutating func stopLingering(_ groupID: GroupID) -> Bool { self.lingering.remove(groupID) != nil }
}
