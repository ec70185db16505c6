import MLS
import Nostr

/// The renewal of this account's keys in its groups: some time after joining, and by age (MIP-02,
/// ``SelfUpdatePolicy``).
struct KeyRenewals: Sendable {
    /// The maximum number of milliseconds until a check. A check before the due time schedules the next one, so
    /// frequent changes of the due time leave few timers behind.
    private static let maximumDelay: Int64 = 86_400_000

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
    mutating func noteJoin(of groupID: GroupID, _ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        guard policy.afterJoining != nil else { return self.noteRenewal(of: groupID, policy, &step) }
        let delay = policy.delay(using: &step.random)
        self.put(KeyAge(notBefore: step.nowMilliseconds + delay), of: groupID, policy, &step)
    }

    /// Restarts the age of the keys after founding a group, or after a commit of this account.
    mutating func noteRenewal(of groupID: GroupID, _ policy: SelfUpdatePolicy, _ step: inout CoreStep) {
        self.put(KeyAge(renewedAt: step.now), of: groupID, policy, &step)
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
