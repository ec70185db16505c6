import MLS
import Marmot
import Nostr

/// Detects at startup whether the account has sent messages after this state was saved, for example because a snapshot
/// of the machine or a plain copy of the directory was restored.
///
/// This account's events of a group are held back until one of its relays has been read. If a relay holds a message
/// that this state never sent, the rollback is detected before a message key is used twice.
struct StateRollbackGuard: Sendable {
    /// Groups none of whose relays has been read since the start, in the state stored at the start: the current state
    /// lacks keys that reveal a rollback if messages sealed since then, and still queued, have consumed them.
    private var unread: [GroupID: MarmotGroup] = [:]
    private var isDetected = false

    /// Whether no group is held back.
    var isOpen: Bool { self.unread.isEmpty }

    mutating func start(_ groups: [GroupID: MarmotGroup]) {
        self.unread = groups.filter(\.value.isActive)
    }

    /// Records that a relay of the group was read, or did not answer after several attempts.
    mutating func noteRead(_ groupID: GroupID) {
        self.unread[groupID] = nil
    }

    func holdsBack(_ groupID: GroupID) -> Bool { self.unread[groupID] != nil }

    /// Returns the epoch of a message of this account that was sent after this state was stored and not by it; nil for
    /// other events.
    mutating func unsentEpoch(of event: Event, in groupID: GroupID, now: UnixTime) -> Epoch? {
        guard case .otherCopy(let epoch)? = self.unread[groupID]?.ingest(event, now: now) else { return nil }
        return epoch
    }

    /// Whether this is the first evidence of a rollback since the start.
    mutating func detect() -> Bool {
        defer { self.isDetected = true }
        return !self.isDetected
    }
}
