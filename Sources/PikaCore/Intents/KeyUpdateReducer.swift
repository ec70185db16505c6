import MLS
import Marmot
import Nostr

/// Coordinates the renewal of this account's keys (``KeyRenewals``).
extension CoreModel {
    mutating func noteJoin(of groupID: GroupID, _ step: inout CoreStep) {
        let policy = self.configuration.selfUpdate
        let quiet = policy.afterJoining == nil ? nil : self.quietTime(of: groupID, &step)
        self.intents.noteJoin(of: groupID, quiet: quiet, policy, &step)
    }

    /// Milliseconds without commits that a new member of a group of the second generation waits for, as in MDK.
    private static let quietTime: Int64 = 60_000
    /// The random time after that, for each member: members that joined together see the same commits, so the time
    /// between two of them must suffice for a commit to arrive and to be decided.
    private static let quietSpread: Int64 = 30_000
    private static let maximumQuietSpread: Int64 = 21_600_000

    /// Returns the milliseconds without commits after which this account may renew its keys after joining; nil in the
    /// first generation, in which a lost race costs nothing.
    private func quietTime(of groupID: GroupID, _ step: inout CoreStep) -> Int64? {
        guard let group = self.groups[second: groupID] else { return nil }
        let members = Int64(group.tip.members.count)
        let spread = min(Self.quietSpread.clampedMultiplied(by: members), Self.maximumQuietSpread)
        return Self.quietTime + Int64.random(in: 0...spread, using: &step.random)
    }

    /// Postpones the renewal after joining, because of a commit.
    mutating func awaitQuiet(in groupID: GroupID, _ step: inout CoreStep) {
        guard self.intents.renewalAwaitsQuiet(in: groupID, nowMilliseconds: step.nowMilliseconds),
            let quiet = self.quietTime(of: groupID, &step)
        else { return }
        self.intents.awaitQuiet(in: groupID, quiet, self.configuration.selfUpdate, &step)
    }

    /// The range of the random number of days between two renewals in groups of the second generation, as in MDK.
    private static let componentRenewalDays: ClosedRange<Int64> = 24...36
    private static let dayMilliseconds: Int64 = 86_400_000

    mutating func noteRenewal(of groupID: GroupID, _ step: inout CoreStep) {
        var notBefore: Int64 = 0
        if self.groups[groupID]?.generation == .v2 {
            let days = Self.componentRenewalDays
            let delay = Int64.random(
                in: days.lowerBound * Self.dayMilliseconds...days.upperBound * Self.dayMilliseconds,
                using: &step.random)
            notBefore = step.nowMilliseconds.clampedAdding(delay)
        }
        self.intents.noteRenewal(of: groupID, notBefore: notBefore, self.configuration.selfUpdate, &step)
    }

    mutating func postponeRenewal(of groupID: GroupID, _ step: inout CoreStep) {
        self.intents.postponeRenewal(of: groupID, self.configuration.selfUpdate, &step)
    }

    /// Renews due keys in quiet groups; in others the renewal is delayed further.
    mutating func renewDueKeys(_ step: inout CoreStep) {
        let policy = self.configuration.selfUpdate
        guard let due = self.intents.dueRenewals(policy, nowMilliseconds: step.nowMilliseconds) else { return }
        for groupID in due {
            guard let group = self.groups[groupID], group.isActive else {
                self.intents.endRenewals(of: groupID, &step)
                continue
            }
            let isQuiet = self.isQuiet(group)
            if isQuiet { self.addIntent(.selfUpdate(isAutomatic: true), groupID, nil, &step) }
            self.intents.delayRenewal(of: groupID, policy, &step)
            // After an outage of the relays all new members would commit at once.
            if !isQuiet { self.awaitQuiet(in: groupID, &step) }
        }
        self.intents.scheduleRenewals(policy, &step)
    }

    /// Whether no other change is in progress in a group, according to at least one up-to-date relay.
    private func isQuiet(_ group: AccountGroup) -> Bool {
        let relays = self.relays(of: group)
        guard !self.convergence.copies.holdsBack(group.groupID) else { return false }
        // A member that waits for a decision would commit at the same moment as the others that do.
        guard !self.holdsMessages(of: group.groupID) else { return false }
        return !group.hasPendingCommit && !group.isLeaving && group.dueDepartures.isEmpty
            && !self.isReading(group.groupID) && !self.intents.hasOpen(in: group.groupID)
            && self.state.relays.contains { relays.contains($0.url) && $0.connection == .connected && $0.isCaughtUp }
    }

    // MARK: Restart

    mutating func restoreKeyAges(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .keyAge {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard self.intents.restoreKeyAge(of: GroupID(name.key), content) else {
                throw AppCoreError(.corruptState, "the stored age of a key cannot be read")
            }
        }
    }

    /// Starts counting the age of keys in groups where it was not counted.
    mutating func startRenewals(_ step: inout CoreStep) {
        let active = self.groups.all.filter(\.value.isActive).keys
        self.intents.startRenewals(in: active, self.configuration.selfUpdate, &step)
    }
}
