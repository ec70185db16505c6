import MLS
import Marmot
import Nostr

/// The groups whose keys another copy of this account has too: each gets fresh keys before this account sends an event
/// in it (``CopiedGroup``).
struct CopiedGroups: Sendable {
    private var groups: [GroupID: CopiedGroup] = [:]

    func phase(of groupID: GroupID) -> CopiedGroup.Phase? { self.groups[groupID]?.phase }

    /// Whether this account's events in a group are held back.
    func holdsBack(_ groupID: GroupID) -> Bool { self.groups[groupID]?.holdsBack ?? false }

    /// Whether another copy has changed a group's keys, so that this copy cannot follow.
    func isOvertaken(_ groupID: GroupID) -> Bool { self.groups[groupID]?.phase == .overtaken }

    /// The groups in which this account's events are held back.
    var heldBack: [GroupID] { self.groups.filter(\.value.holdsBack).map(\.key) }

    /// The groups whose commit is to be made, or is in flight.
    var unrenewed: [GroupID] {
        self.groups.filter { $0.value.phase == .reading || $0.value.phase == .renewing }.map(\.key)
    }

    /// The groups with messages of this account to be sealed again, and the newest of their epochs.
    var resealing: [(groupID: GroupID, epoch: Epoch)] {
        self.groups.compactMap { groupID, copied in copied.resealedEpoch.map { (groupID, $0) } }
    }

    /// Reads a stored group; false if it is malformed.
    mutating func restore(_ groupID: GroupID, _ memo: Secret) -> Bool {
        self.groups[groupID] = CopiedGroup(memo)
        return self.groups[groupID] != nil
    }

    // MARK: Changes

    /// The consequences of a change for the rest of the model.
    struct Outcome: Equatable {
        /// The chat shows whether the group is overtaken.
        var changesChat = false
        /// This account's messages up to this epoch are to be loaded, and sealed again.
        var loadsUnsent: Epoch?
        /// The commit can be made now.
        var renews = false
    }

    /// Marks a group as copied, since another copy has its keys.
    ///
    /// - Parameter further: further commits of this account that may become part of the history.
    mutating func mark(
        _ group: AccountGroup, and further: Set<EventID> = [], _ step: inout CoreStep
    ) -> Outcome {
        self.put(CopiedGroup(oldCommits: group.ownCommits.union(further)), of: group.groupID, &step)
    }

    /// Unmarks a group whose keys no other copy has.
    mutating func unmark(_ groupID: GroupID, _ step: inout CoreStep) -> Outcome {
        self.put(nil, of: groupID, &step)
    }

    /// Records that relays were read, so that the commit can be made.
    mutating func renew(_ groupID: GroupID, _ step: inout CoreStep) {
        _ = self.change(groupID, to: .renewing, &step)
    }

    /// Records that this account's messages of a group were sealed again.
    mutating func endReseal(of groupID: GroupID, upToEpoch epoch: Epoch, _ step: inout CoreStep) {
        _ = self.change(groupID, to: .renewed(epoch: epoch), &step)
    }

    /// Records that the other copy has made a commit whose keys this copy lacks. Returns nil if that was known.
    mutating func overtake(_ groupID: GroupID, _ step: inout CoreStep) -> Outcome? {
        guard !self.isOvertaken(groupID) else { return nil }
        var copied = self.groups[groupID] ?? CopiedGroup()
        copied.phase = .overtaken
        return self.put(copied, of: groupID, &step)
    }

    /// Updates a group after a commit: a commit of this account gives fresh keys, and a better one may revoke them.
    ///
    /// - Parameter hasCopies: whether this state is itself a later copy of another one.
    mutating func follow(
        _ report: CommitReport, in group: AccountGroup, hasCopies: Bool, _ step: inout CoreStep
    ) -> Outcome {
        let groupID = group.groupID
        guard let copied = self.groups[groupID] else { return Outcome() }
        if report.removedSelf { return self.put(nil, of: groupID, &step) }
        if report.isOwn, !copied.oldCommits.contains(report.event) {
            var outcome = self.change(groupID, to: .resealing(epoch: report.epochBefore), &step)
            outcome.loadsUnsent = report.epochBefore
            return outcome
        }
        switch copied.phase {
        case .reading, .renewing: return Outcome()
        case .overtaken:
            // Another member's commit has displaced the other copy's.
            guard hasCopies else { return self.put(nil, of: groupID, &step) }
            var outcome = self.change(groupID, to: .reading, &step)
            outcome.renews = true
            return outcome
        case .resealing(let epoch), .renewed(let epoch):
            if report.rolledBackFrom != nil, report.epochBefore <= epoch {
                return self.change(groupID, to: .renewing, &step)
            }
            guard !epoch.isWithin(group.pastEpochs, of: group.epoch), copied.resealedEpoch == nil else {
                return Outcome()
            }
            return self.put(nil, of: groupID, &step)
        }
    }

    private mutating func change(
        _ groupID: GroupID, to phase: CopiedGroup.Phase, _ step: inout CoreStep
    ) -> Outcome {
        var copied = self.groups[groupID]
        copied?.phase = phase
        return self.put(copied, of: groupID, &step)
    }

    private mutating func put(_ copied: CopiedGroup?, of groupID: GroupID, _ step: inout CoreStep) -> Outcome {
        let before = self.groups[groupID]
        guard before != copied else { return Outcome() }
        self.groups[groupID] = copied
        step.changes.append(.putMemo(MemoName(.copiedGroup, groupID), copied?.stored))
        return Outcome(changesChat: (before?.phase == .overtaken) != (copied?.phase == .overtaken))
    }
}
