import MLS
import Marmot
import Nostr

/// Another state of a group that this account is in.
struct Rival: Sendable {
    /// The invitation that leads to it; nil for a state that this account left for another one.
    let invite: (wrapper: EventID, invitation: WelcomeEvents.Invitation)?
    var group: MarmotGroup
    /// The state after the waiting events were applied. Not stored.
    private var probe: MarmotGroup
    private var isFresh = true

    init(invite: (wrapper: EventID, invitation: WelcomeEvents.Invitation)?, group: MarmotGroup) {
        self.invite = invite
        self.group = group
        self.probe = group
    }

    /// The store's key for a state that this account has left.
    var storedKey: [UInt8] { StoredGroupKey.leftBranch(self.group.groupID, isActive: self.group.isActive) }

    /// Whether it opens one of the events: newly arrived ones, or all waiting ones on the first call.
    mutating func opens(_ fresh: [Event], now: UnixTime, waiting: () -> [Event]) -> Bool {
        let events = self.isFresh ? waiting() : fresh
        self.isFresh = false
        for event in events {
            switch self.probe.ingest(event, now: now) {
            case .message, .proposal: return true
            // A state that this account was removed from is not worth returning to.
            case .commit(let report): if !report.removedSelf { return true }
            case .waiting, .refused, .ownCommit, .ownEcho, .otherCopy: break
            }
        }
        return false
    }
}
