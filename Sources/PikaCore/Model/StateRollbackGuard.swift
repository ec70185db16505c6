import MLS
import Marmot
import Nostr

/// Finds out at the start whether this state is older than the messages that the account has sent since: a snapshot of
/// the machine, or a plain copy of the directory, was put back.
///
/// Own events of a group wait until one of its relays was read. A relay that holds a message which this state never sent
/// shows the rollback before a message key is used twice.
struct StateRollbackGuard: Sendable {
    /// Groups of which no relay was read since the start, as they were stored: messages that were sealed since then, and
    /// wait, have used up keys by which a rollback shows.
    private var unread: [GroupID: MarmotGroup] = [:]
    private var isDetected = false

    /// Whether nothing is held back.
    var isOpen: Bool { self.unread.isEmpty }

    mutating func start(_ groups: [GroupID: MarmotGroup]) {
        self.unread = groups.filter(\.value.isActive)
    }

    /// A relay of the group was read, or does not answer in spite of several attempts.
    mutating func noteRead(_ groupID: GroupID) {
        self.unread[groupID] = nil
    }

    func holdsBack(_ groupID: GroupID) -> Bool { self.unread[groupID] != nil }

    /// The epoch of an own message that was sent after the state was stored, although not by it.
    mutating func unsentEpoch(of event: Event, in groupID: GroupID, now: Int64) -> Epoch? {
        guard case .otherCopy(let epoch)? = self.unread[groupID]?.ingest(event, now: now) else { return nil }
        return epoch
    }

    /// Whether this is the first sign of a rollback since the start.
    mutating func detect() -> Bool {
        defer { self.isDetected = true }
        return !self.isDetected
    }
}
