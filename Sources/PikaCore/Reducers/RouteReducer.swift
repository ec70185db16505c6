import MLS
import Marmot
import Nostr

/// Routing ids, and the groups that claim them.
extension CoreModel {
    /// Returns the name of the cursor that holds when this account first entered a group, by its own clock.
    private static func enteredCursor(_ groupID: GroupID) -> String { "entered/\(groupID.hex)" }

    /// Routes a group's current and former ids to it; other groups' claims to them stay.
    @discardableResult
    mutating func route(_ group: MarmotGroup) -> (changed: Set<Bytes32>, released: Set<Bytes32>) {
        self.routes.set(
            [group.data.nostrGroupID] + group.formerNostrGroupIDs, of: group.groupID,
            enteredAt: self.cursors[Self.enteredCursor(group.groupID)] ?? 0)
    }

    /// Records that this account entered a group; only the first time counts.
    mutating func noteEntry(of groupID: GroupID, _ step: inout CoreStep) {
        let name = Self.enteredCursor(groupID)
        guard self.cursors[name] == nil else { return }
        self.cursors[name] = step.now
        step.changes.append(.advanceCursor(name: name, to: step.now))
    }

    /// Updates the routes of a group that was entered or changed, and reports ids that other groups claim too.
    mutating func index(_ group: MarmotGroup, _ step: inout CoreStep) {
        self.media.note(group)
        let (changed, released) = self.route(group)
        for id in released { self.inbound.waiting.removeAll(under: id, &step) }
        for id in changed.sorted() {
            let groups = self.routes.groups(claiming: id)
            // A chat also shows whether another group claims its id.
            for other in groups where other != group.groupID { self.refreshChat(other) }
            if groups.count > 1, groups.contains(group.groupID) { self.noteCollision(id, groups, &step) }
        }
    }

    /// Makes migrated chat ids durable, at the start.
    mutating func storeMigratedChatIDs(_ step: inout CoreStep) {
        step.changes += self.storedChatIDs.changes
        for _ in self.storedChatIDs.ambiguousInboxRows {
            step.effects.append(.note(.gaveUpEvent(reason: "ambiguous_chat")))
        }
        self.storedChatIDs = StoredChatIDs()
    }

    /// Reports existing collisions, at the start.
    mutating func noteCollisions(_ step: inout CoreStep) {
        for id in self.routes.ids(where: { _ in true }) {
            let groups = self.routes.groups(claiming: id)
            if groups.count > 1 { self.noteCollision(id, groups, &step) }
        }
    }

    private func noteCollision(_ id: Bytes32, _ groups: [GroupID], _ step: inout CoreStep) {
        step.effects.append(.note(.routingCollision(nostrGroupID: id.hex, chatIDs: groups.map(\.hex))))
    }

    /// Returns a screen with the chat id in place of another reference.
    func resolved(_ screen: AppState.Screen) -> AppState.Screen {
        switch screen {
        case .chat(let reference): .chat(chatID: self.routes.chatID(stored: reference))
        case .groupInfo(let reference): .groupInfo(chatID: self.routes.chatID(stored: reference))
        case .login, .chatList, .newChat, .newGroupChat: screen
        }
    }

    /// Returns the groups whose keys may open an event.
    func candidates(for event: Event) -> [GroupID] {
        guard let id = try? GroupEvents.nostrGroupID(of: event) else { return [] }
        return self.routes.candidates(for: id) { self.groups[$0]?.isActive == true }
    }

    /// Returns the group that an event belongs to: the candidate whose key opens it, else the first one.
    func group(of event: Event) -> GroupID? {
        let candidates = self.candidates(for: event)
        guard candidates.count > 1 else { return candidates.first }
        return candidates.first { self.groups[$0]?.opens(event) == true } ?? candidates.first
    }
}
