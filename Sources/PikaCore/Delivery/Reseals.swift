import MLS
import Marmot
import Nostr

/// The groups in which this account's messages of rolled-back epochs are to be sealed again.
struct Reseals: Sendable {
    struct Reseal: Sendable {
        /// The first abandoned epoch.
        let fromEpoch: Epoch
        /// Messages sent since, which are on the right branch.
        fileprivate(set) var sent: Set<EventID> = []
        /// Whether loading the messages waits for the end of the group's back-off, or until nothing is undecided.
        fileprivate(set) var isDeferred = false
    }

    private var reseals: [GroupID: Reseal] = [:]

    var groups: [GroupID] { Array(self.reseals.keys) }

    subscript(groupID: GroupID) -> Reseal? { self.reseals[groupID] }

    /// Begins a reseal; an earlier one of the group is merged. A memo records the task until it is finished.
    mutating func begin(_ groupID: GroupID, fromEpoch: Epoch, _ step: inout CoreStep) {
        let earliest = min(fromEpoch, self.reseals[groupID]?.fromEpoch ?? fromEpoch)
        self.reseals[groupID] = Reseal(fromEpoch: earliest)
        step.changes.append(.putMemo(MemoName(.reseal, groupID), Secret(earliest.bytes)))
    }

    /// Loads the messages, unless that has to wait.
    mutating func load(_ groupID: GroupID, isDeferred: Bool, _ step: inout CoreStep) {
        guard let reseal = self.reseals[groupID] else { return }
        self.reseals[groupID]?.isDeferred = isDeferred
        if !isDeferred { step.effects.append(.loadSent(groupID: groupID, fromEpoch: reseal.fromEpoch)) }
    }

    /// Records that a message was sent on the current branch.
    mutating func noteSent(_ message: EventID, in groupID: GroupID) { self.reseals[groupID]?.sent.insert(message) }

    /// Ends a reseal, since its messages were loaded; nil if absent.
    mutating func finish(_ groupID: GroupID, _ step: inout CoreStep) -> Reseal? {
        guard let reseal = self.reseals.removeValue(forKey: groupID) else { return nil }
        step.changes.append(.putMemo(MemoName(.reseal, groupID), nil))
        return reseal
    }

    /// Restores a reseal; false if the memo is unreadable.
    mutating func restore(_ groupID: GroupID, _ memo: Secret) -> Bool {
        guard let epoch = Epoch(bytes: memo.copyBytes()) else { return false }
        self.reseals[groupID] = Reseal(fromEpoch: epoch)
        return true
    }
}
