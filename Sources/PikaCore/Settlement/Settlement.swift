import MLS
import Marmot
import Nostr

/// State of the groups of the second generation beside their values (``ConvergingGroup``): the events that carried
/// their messages, messages that wait for a decision or left the history, timers, and the groups that ended.
struct Settlement: Sendable {
    private(set) var carriers = CarrierEvents()
    var withdrawals = Withdrawals()
    var held = HeldMessages()
    var others = OtherStates()
    /// Groups that were disbanded: nothing follows, and no Welcome to them is accepted.
    private(set) var disbanded: Set<GroupID> = []
    /// Monotonic milliseconds of each group's next timer.
    private var wakes: [GroupID: Int64] = [:]
    /// The groups that were told whether a change that needs an admin waits, with the last value.
    private var adminChanges: [GroupID: Bool] = [:]
    /// Groups with a timer for a key update that brings a waiting departure nearer.
    private var approaches: Set<GroupID> = []
    /// Other members that proposed their departure in each group's present epoch; kept here, because judging the proposals
    /// costs a verification each.
    private var departures: [GroupID: Set<PublicKey>] = [:]

    // MARK: Proposals

    /// The departures of other members that wait for a commit.
    func proposals(of groupID: GroupID) -> [AppState.WaitingProposal] {
        self.departures[groupID, default: []].sorted().map {
            AppState.WaitingProposal(proposer: $0, change: .departure)
        }
    }

    /// Replaces the waiting departures of a group. Returns whether they have changed.
    mutating func noteDepartures(_ leavers: Set<PublicKey>, of groupID: GroupID) -> Bool {
        guard self.departures[groupID, default: []] != leavers else { return false }
        self.departures[groupID] = leavers.isEmpty ? nil : leavers
        return true
    }

    /// Adds a waiting departure. Returns whether it is new.
    mutating func noteDeparture(of leaver: PublicKey, from groupID: GroupID) -> Bool {
        self.departures[groupID, default: []].insert(leaver).inserted
    }

    // MARK: Timers

    /// Schedules the end of a pass, unless an earlier timer is scheduled, which schedules the next one.
    mutating func schedule(_ groupID: GroupID, at deadline: Int64?, _ step: inout CoreStep) {
        guard let deadline, deadline < self.wakes[groupID] ?? .max else { return }
        self.wakes[groupID] = deadline
        step.effects.append(.wakeMonotonic(.settlement(groupID: groupID), atMilliseconds: deadline))
    }

    /// Records that a timer of a group has fired.
    mutating func endWake(of groupID: GroupID) { self.wakes[groupID] = nil }

    /// Records that a waiting departure has a timer. Returns whether it had none.
    mutating func beginApproach(of groupID: GroupID) -> Bool { self.approaches.insert(groupID).inserted }

    /// Records that the timer of a waiting departure has fired.
    mutating func endApproach(of groupID: GroupID) { self.approaches.remove(groupID) }

    /// Records whether a change that needs an admin waits. Returns whether the group does not know that yet.
    mutating func noteAdminChange(_ isWaiting: Bool, of groupID: GroupID) -> Bool {
        guard self.adminChanges[groupID] != isWaiting else { return false }
        self.adminChanges[groupID] = isWaiting
        return true
    }

    /// Whether a change that needs an admin waits, as far as the group knows.
    func hasAdminChange(_ groupID: GroupID) -> Bool { self.adminChanges[groupID] ?? true }

    // MARK: Events

    func event(of message: Bytes32, in groupID: GroupID) -> CarrierEvent? {
        self.carriers.event(of: message, in: groupID)
    }

    mutating func put(_ event: CarrierEvent, of message: Bytes32, in groupID: GroupID, _ step: inout CoreStep) {
        self.carriers.put(event, of: message, in: groupID, &step)
    }

    mutating func forgetEvent(of message: Bytes32, in groupID: GroupID, _ step: inout CoreStep) {
        self.carriers.remove(message, of: groupID, &step)
    }

    mutating func prune(_ groupID: GroupID, before epoch: Epoch, _ step: inout CoreStep) {
        self.carriers.prune(groupID, before: epoch, &step)
    }

    /// Forgets the events of messages that a group does not keep any more: messages decided without a reported
    /// disposition.
    mutating func prune(_ groupID: GroupID, keeping isKept: (Bytes32) -> Bool, _ step: inout CoreStep) {
        self.carriers.prune(groupID, keeping: isKept, &step)
    }

    // MARK: The end of a group

    /// Records permanently that a group was disbanded.
    mutating func noteDisbanded(_ groupID: GroupID, _ step: inout CoreStep) {
        guard self.disbanded.insert(groupID).inserted else { return }
        step.changes.append(.putMemo(MemoName(.tombstone, groupID), Secret([1])))
    }

    /// Forgets a group's messages, since another state replaces it.
    mutating func reset(_ groupID: GroupID, _ step: inout CoreStep) {
        self.carriers.removeAll(of: groupID, &step)
        self.wakes[groupID] = nil
        self.adminChanges[groupID] = nil
        self.approaches.remove(groupID)
        self.departures[groupID] = nil
        self.others.forgetAll(of: groupID, &step)
    }

    // MARK: Restart

    /// Restores a memo; false if it is unreadable.
    mutating func restore(_ name: MemoName, _ memo: Secret) -> Bool {
        switch name.kind {
        case .carrierEvent: return self.carriers.restore(name.key, memo)
        case .withdrawal: return self.withdrawals.restore(GroupID(name.key), memo)
        case .heldMessage: return self.held.restore(name.key, memo)
        case .otherStates: return self.others.restore(GroupID(name.key), memo)
        case .tombstone:
            self.disbanded.insert(GroupID(name.key))
            return true
        default: return false
        }
    }
}
