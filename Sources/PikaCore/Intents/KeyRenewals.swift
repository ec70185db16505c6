import MLS
import Nostr

/// The renewal of this account's keys in its groups: some time after joining, and by age (MIP-02,
/// ``SelfUpdatePolicy``).
struct KeyRenewals: Sendable {
    /// The maximum number of milliseconds until a check. A check before the due time schedules the next one, so
    /// frequent changes of the due time leave few timers behind.
    private static let maximumDelay: Int64 = 86_400_000
    /// Milliseconds after joining within which the keys should be renewed (MIP-02), whether the group is quiet or not.
    static let joinDeadline: Int64 = 86_400_000

    private var ages: [GroupID: KeyAge] = [:]
    /// Unix milliseconds of the scheduled check.
    private var wakeAt: Int64?

    /// Reads a stored age; false if it is malformed.
    mutating func restore(_ groupID: GroupID, _ memo: Secret) -> Bool {
        self.ages[groupID] = KeyAge(memo)
        return self.ages[groupID] != nil
    }

    /// Starts counting the age of keys in groups where it was not counted.
    mutating func start(_ groups: some Sequence<GroupID>, _ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        for groupID in groups where self.ages[groupID] == nil { self.noteRenewal(of: groupID, policy, &step) }
        self.schedule(policy, &step)
    }

    /// Schedules a renewal after joining a group with a key package that others may have seen.
    ///
    /// - Parameter quiet: the milliseconds without commits that it waits for in addition; nil if it does not.
    mutating func noteJoin(
        of groupID: GroupID, quiet: Int64? = nil, _ policy: SelfUpdatePolicy, _ step: inout CoreStep
    ) {
        guard policy.afterJoining != nil else { return self.noteRenewal(of: groupID, policy, &step) }
        let delay = policy.delay(using: &step.random).clampedAdding(quiet ?? 0)
        var age = KeyAge(notBefore: step.nowMilliseconds.clampedAdding(delay))
        if quiet != nil { age.quietUntil = step.nowMilliseconds.clampedAdding(Self.joinDeadline) }
        self.put(age, of: groupID, policy, &step)
    }

    /// Whether a commit in a group postpones the renewal after joining it.
    func awaitsQuiet(_ groupID: GroupID, nowMilliseconds: Int64) -> Bool {
        guard let age = self.ages[groupID], age.renewedAt == nil else { return false }
        return age.quietUntil.map { nowMilliseconds < $0 } ?? false
    }

    /// Postpones the renewal after joining until `quiet` milliseconds have passed after a commit.
    mutating func awaitQuiet(
        _ groupID: GroupID, _ quiet: Int64, _ policy: SelfUpdatePolicy, _ step: inout CoreStep
    ) {
        let time = step.nowMilliseconds.clampedAdding(quiet)
        guard self.awaitsQuiet(groupID, nowMilliseconds: step.nowMilliseconds), var age = self.ages[groupID],
            age.notBefore < time
        else { return }
        age.notBefore = time
        self.put(age, of: groupID, policy, &step)
    }

    /// Restarts the age of the keys after founding a group, or after a commit of this account.
    ///
    /// - Parameter notBefore: Unix milliseconds before which they are not renewed, whatever the policy.
    mutating func noteRenewal(
        of groupID: GroupID, notBefore: Int64 = 0, _ policy: SelfUpdatePolicy, _ step: inout CoreStep
    ) {
        self.put(KeyAge(renewedAt: step.now, notBefore: notBefore), of: groupID, policy, &step)
    }

    /// Postpones an automatic renewal that another member's commit displaced, but not indefinitely.
    mutating func postpone(_ groupID: GroupID, _ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        let age = self.ages[groupID] ?? KeyAge(renewedAt: step.now)
        self.put(
            age.displaced(at: step.nowMilliseconds, policy, using: &step.random), of: groupID, policy, &step)
    }

    /// Returns the groups whose keys are due, in order; nil before the scheduled check.
    mutating func dueGroups(_ policy: SelfUpdatePolicy, nowMilliseconds: Int64) -> [GroupID]? {
        guard let wakeAt, wakeAt <= nowMilliseconds else { return nil }
        self.wakeAt = nil
        return self.ages.filter { $0.value.due(policy).map { $0 <= nowMilliseconds } ?? false }.keys.sorted()
    }

    /// Delays the next attempt in a due group.
    mutating func delay(_ groupID: GroupID, _ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        self.ages[groupID]?.notBefore = step.nowMilliseconds + policy.delay(using: &step.random)
    }

    /// Removes a group that this account is no longer a member of.
    mutating func remove(_ groupID: GroupID, _ step: inout CoreStep) {
        self.ages[groupID] = nil
        step.changes.append(.putMemo(MemoName(.keyAge, groupID), nil))
    }

    /// Schedules the next check, unless an earlier one is scheduled.
    mutating func schedule(_ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        let next = self.ages.values.compactMap { $0.due(policy) }.min()
        guard let time = next.map({ min($0, step.nowMilliseconds + Self.maximumDelay) }), time < self.wakeAt ?? .max
        else { return }
        self.wakeAt = time
        step.effects.append(.wake(.keyUpdates, atMilliseconds: time))
    }

    private mutating func put(
        _ age: KeyAge, of groupID: GroupID, _ policy: SelfUpdatePolicy, _ step: inout CoreStep
    ) {
        guard policy != .never else { return }
        self.ages[groupID] = age
        step.changes.append(.putMemo(MemoName(.keyAge, groupID), age.stored))
        self.schedule(policy, &step)
    }
}
