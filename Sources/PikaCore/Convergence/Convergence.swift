import MLS
import Marmot
import Nostr

/// The state of each group that this account shares with the other members, and whether its own events may be sent in
/// it. ``BranchDecision`` is its view of a protocol generation's branch rule.
struct Convergence: Sendable {
    /// Which copy of the account's state this is.
    private(set) var instance: StoredInstance
    /// The notice of the later copy to which this one yields.
    private(set) var successor: CopyNotice?
    var branches = Branches()
    var rollbacks = Rollbacks()
    var copies = CopiedGroups()
    var fence = CopyFence()
    var stateRollback = StateRollbackGuard()
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
    func isCopied(_ package: StoredKeyPackage) -> Bool { package.createdAt <= self.instance.generation / 1000 }

    /// Becomes a new copy of the account, durably: its generation is later than any before.
    mutating func becomeCopy(_ step: inout CoreStep) {
        var id = [UInt8](repeating: 0, count: 16)
        for index in id.indices { id[index] = .random(in: .min ... .max, using: &step.random) }
        let (next, overflows) = self.instance.generation.addingReportingOverflow(1)
        self.instance = StoredInstance(
            id: id, generation: max(step.nowMilliseconds, overflows ? self.instance.generation : next))
        step.changes.append(.putInstance(self.instance))
    }

    /// Returns the reaction to another copy's notice.
    mutating func verdict(
        on notice: CopyNotice, createdAt: Int64, isLive: Bool, now: Int64
    ) -> CopyFence.Verdict {
        self.fence.verdict(on: notice, createdAt: createdAt, isLive: isLive, instance: self.instance, now: now)
    }

    /// Yields to a later copy: this one must stop.
    mutating func stop(for notice: CopyNotice) { self.successor = notice }

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
