import Nostr

/// Turns actions that create or change a group into intents.
extension CoreModel {
    mutating func createGroup(_ action: AppAction, _ request: RequestID?, _ step: inout CoreStep) {
        let goal: GroupIntent.Goal
        var missing = MissingPeers.fail
        switch action {
        case .createGroupChat(let name, let peers, let choice, let groupProtocol):
            missing = choice
            goal = .found(
                name: name, peers: peers, isDirect: false,
                groupProtocol: groupProtocol ?? self.configuration.groupProtocol)
        case .createChat(let peer, let name, let groupProtocol):
            goal = .found(
                name: name, peers: [peer], isDirect: true,
                groupProtocol: groupProtocol ?? self.configuration.groupProtocol)
        default: return
        }
        self.addIntent(goal, .notYetCreated, missing: missing, request, &step)
    }

    mutating func changeGroup(_ action: AppAction, _ request: RequestID?, _ step: inout CoreStep) throws {
        guard let (chatID, goal) = self.groupChange(action, &step) else { return }
        let groupID = try self.groupID(ofChat: chatID)
        if goal == .leave, self.isUnrecoverable(groupID), !self.hasLeft(groupID) {
            return self.dismiss(groupID, request, &step)
        }
        try self.requireMembership(in: groupID)
        guard goal != .leave || !self.intents.hasOpen(.leave, in: groupID) else {
            throw AppCoreError(.busy, "this account is leaving the group already")
        }
        var missing = MissingPeers.fail
        if case .addGroupMembers(_, _, let choice) = action { missing = choice }
        var successor: PublicKey?
        if case .leaveGroup(_, let member?) = action {
            try self.requireSuccessor(member, in: groupID)
            successor = member
        }
        self.addIntent(goal, groupID, missing: missing, successor: successor, request, &step)
    }

    /// Returns the change that an action requests, and its chat; nil for other actions.
    private func groupChange(
        _ action: AppAction, _ step: inout CoreStep
    ) -> (chatID: ChatID, goal: GroupIntent.Goal)? {
        switch action {
        case .addGroupMembers(let chatID, let peers, _): (chatID, .add(peers))
        case .removeGroupMembers(let chatID, let peers): (chatID, .remove(peers))
        case .renameGroup(let chatID, let name): (chatID, .set(.name(name)))
        case .setGroupDescription(let chatID, let description): (chatID, .set(.description(description)))
        case .setGroupRelays(let chatID, let relays): (chatID, .set(.relays(relays)))
        case .setGroupAdmins(let chatID, let admins): (chatID, .set(.admins(admins)))
        case .rotateGroupID(let chatID): (chatID, .set(.nostrGroupID(.random(using: &step.random))))
        case .setDisappearingMessages(let chatID, let seconds): (chatID, .set(.disappearing(seconds)))
        case .selfDemote(let chatID): (chatID, .selfDemote)
        case .upgradeGroup(let chatID): (chatID, .upgrade)
        case .updateGroupKeys(let chatID): (chatID, .selfUpdate(isAutomatic: false))
        case .leaveGroup(let chatID, _): (chatID, .leave)
        case .disbandGroup(let chatID): (chatID, .disband)
        case .enableDisbanding(let chatID): (chatID, .enableDisbanding)
        default: nil
        }
    }
}
