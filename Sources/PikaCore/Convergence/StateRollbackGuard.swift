import MLS
import Marmot
import Nostr

/// Detects at startup whether the account has sent messages after this state was saved, for example because a snapshot
/// of the machine or a plain copy of the directory was restored.
///
/// This account's events of a group are held back until one of its relays has been read. If a relay holds a message
/// that this state never sent, the rollback is detected before a message key is used twice.
struct StateRollbackGuard: Sendable {
    /// Groups none of whose relays has been read since the start.
    private var unread: Set<GroupID> = []
    /// Those groups in the state stored at the start: the current state lacks keys that reveal a rollback if messages sealed
    /// since then, and still queued, have consumed them.
    private var firsts: [GroupID: MarmotGroup] = [:]
    private var seconds: [GroupID: ConvergingGroup] = [:]
    private var isDetected = false

    /// Whether no group is held back.
    var isOpen: Bool { self.unread.isEmpty }

    mutating func start(_ groups: Groups) {
        self.unread = Set(groups.values.filter(\.isActive).map(\.groupID))
        self.firsts = groups.firsts.filter(\.value.isActive)
        self.seconds = groups.seconds.filter(\.value.isActive)
    }

    /// Records that a relay of the group was read, or did not answer after several attempts.
    mutating func noteRead(_ groupID: GroupID) {
        self.unread.remove(groupID)
        self.firsts[groupID] = nil
        self.seconds[groupID] = nil
    }

    func holdsBack(_ groupID: GroupID) -> Bool { self.unread.contains(groupID) }

    /// Returns the epoch of a message of this account that was sent after this state was stored and not by it; nil for
    /// other events.
    mutating func unsentEpoch(of event: Event, in groupID: GroupID, now: UnixTime) -> Epoch? {
        guard case .otherCopy(let epoch)? = self.firsts[groupID]?.ingest(event, now: now) else { return nil }
        return epoch
    }

    /// Whether a message of a group of the second generation is this account's, was sent after this state was stored, and
    /// not by it.
    func isUnsent(_ message: GroupMessage, in groupID: GroupID) -> Bool {
        self.seconds[groupID]?.isOfCopy(message) ?? false
    }

    /// Whether this is the first evidence of a rollback since the start.
    mutating func detect() -> Bool {
        defer { self.isDetected = true }
        return !self.isDetected
    }
}
