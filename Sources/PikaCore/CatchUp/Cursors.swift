import MLS
import Nostr

/// The stored cursors: the position in each relay's events, and times and flags of each group's membership.
struct Cursors: Sendable {
    /// The cursors' values, by name.
    private var values: [String: Int64]

    init(_ stored: [String: Int64] = [:]) {
        self.values = stored
    }

    private func time(_ name: String) -> UnixTime? { self.values[name].map(UnixTime.init(_:)) }

    private mutating func set(_ name: String, to value: Int64, _ step: inout CoreStep) {
        self.values[name] = value
        step.changes.append(.advanceCursor(name: name, to: value))
    }

    // MARK: Relays

    /// Returns the time of the newest event up to which a relay was read.
    func position(in relay: RelayURL) -> UnixTime? { self.time(relay.string) }

    mutating func advance(_ relay: RelayURL, to time: UnixTime, _ step: inout CoreStep) {
        guard time > self.position(in: relay) ?? 0 else { return }
        self.set(relay.string, to: time.seconds, &step)
    }

    // MARK: Due backlogs

    /// Returns the name of the cursor that records, across restarts, whether a group's events on a relay are still to
    /// be read: an odd value means yes.
    private static func backlog(_ groupID: GroupID, _ relay: RelayURL) -> String {
        "backlog/\(groupID.hex)/\(relay.string)"
    }

    func isBacklogDue(_ groupID: GroupID, _ relay: RelayURL) -> Bool {
        (self.values[Self.backlog(groupID, relay)] ?? 0) % 2 == 1
    }

    mutating func noteBacklog(_ groupID: GroupID, _ relay: RelayURL, isDue: Bool, _ step: inout CoreStep) {
        guard self.isBacklogDue(groupID, relay) != isDue else { return }
        let name = Self.backlog(groupID, relay)
        self.set(name, to: (self.values[name] ?? 0) + 1, &step)
    }

    // MARK: Memberships

    /// Returns the name of the cursor that holds the time of the invitation to a group. Older events cannot be opened.
    static func joined(_ groupID: GroupID) -> String { "joined/\(groupID.hex)" }

    /// Returns the name of the cursor that holds the time at which this account first entered a group, by its
    /// own clock.
    private static func entered(_ groupID: GroupID) -> String { "entered/\(groupID.hex)" }

    private static func removed(_ groupID: GroupID) -> String { "removed/\(groupID.hex)" }

    /// Returns the time of the newest invitation to a group.
    func invitedAt(_ groupID: GroupID) -> UnixTime? { self.time(Self.joined(groupID)) }

    /// Records the time of an invitation; an earlier one than before is ignored.
    mutating func noteInvitation(to groupID: GroupID, at time: UnixTime, _ step: inout CoreStep) {
        let name = Self.joined(groupID)
        self.values[name] = max(self.values[name] ?? 0, time.seconds)
        step.changes.append(.advanceCursor(name: name, to: time.seconds))
    }

    /// Returns the time at which this account first entered a group.
    func enteredAt(_ groupID: GroupID) -> UnixTime? { self.time(Self.entered(groupID)) }

    /// Records that this account entered a group; only the first time counts.
    mutating func noteEntry(of groupID: GroupID, _ step: inout CoreStep) {
        let name = Self.entered(groupID)
        guard self.values[name] == nil else { return }
        self.set(name, to: step.now.seconds, &step)
    }

    /// Returns the time at which this account was last removed from a group.
    func removedAt(_ groupID: GroupID) -> UnixTime? { self.time(Self.removed(groupID)) }

    mutating func noteRemoval(from groupID: GroupID, _ step: inout CoreStep) {
        self.set(Self.removed(groupID), to: step.now.seconds, &step)
    }
}
