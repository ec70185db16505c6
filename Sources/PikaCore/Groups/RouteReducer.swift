import MLS
import Nostr

/// Routing ids, and the groups that claim them.
extension CoreModel {
    /// Routes a group's current and former ids to it; other groups' claims to them stay.
    @discardableResult
    mutating func route(_ group: AccountGroup) -> (changed: Set<Bytes32>, released: Set<Bytes32>) {
        self.groups.route(group, enteredAt: self.catchUp.cursors.enteredAt(group.groupID) ?? 0)
    }

    /// Updates the routes of a group that was entered or changed, and reports ids that other groups claim too.
    mutating func index(_ group: AccountGroup, _ step: inout CoreStep) {
        self.media.note(group)
        self.followPushTokens(of: group, &step)
        let (changed, released) = self.route(group)
        for id in released { self.forgetWaiting(under: id, &step) }
        for id in changed.sorted() {
            let groups = self.groups.routes.groups(claiming: id)
            // A chat also shows whether another group claims its id.
            for other in groups where other != group.groupID { self.refreshChat(other) }
            if groups.contains(group.groupID) { self.groups.noteCollision(of: id, &step) }
        }
    }

    /// Returns a screen with the chat id in place of another reference.
    func resolved(_ screen: AppState.Screen) -> AppState.Screen {
        switch screen {
        case .chat(let chatID): .chat(chatID: self.groups.routes.chatID(stored: chatID))
        case .groupInfo(let chatID): .groupInfo(chatID: self.groups.routes.chatID(stored: chatID))
        case .chatList, .newChat, .newGroupChat: screen
        }
    }
}
