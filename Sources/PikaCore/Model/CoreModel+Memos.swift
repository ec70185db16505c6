import MLS
import Nostr

extension CoreModel {
    /// Restores the memos of the account itself; memos of groups are restored with their groups.
    mutating func restoreOwnMemos(_ stored: StoredState) throws(AppCoreError) {
        var previews: [EventID: AppState.InvitedGroup] = [:]
        for (name, memo) in stored.memos {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            var isReadable = true
            switch name.kind {
            case .keyPackage: isReadable = self.keyPackages.restore(name.key, memo)
            case .deviceKey: isReadable = self.keyPackages.device.restore(memo)
            case .relayList: isReadable = self.keyPackages.restoreRelayList(memo)
            case .peerRelays: isReadable = self.invitations.restoreRelays(name.key, memo)
            case .invitePreview:
                let wrapper = try? EventID(bytes: name.key)
                let preview = AppState.InvitedGroup(memo: memo)
                if let wrapper { previews[wrapper] = preview }
                isReadable = wrapper != nil && preview != nil
            case .liveCall: isReadable = self.calls.restore(memo)
            case .callTimeline:
                let entries = CallTimeline.entries(memo: memo)
                self.state.callTimeline = entries ?? []
                isReadable = entries != nil
            case .answer: isReadable = self.inbox.restoreOutcome(name.key, memo)
            case .pendingAction: isReadable = self.actions.restore(memo)
            case .chat: isReadable = self.chats.restore(GroupID(name.key), memo)
            case .failedMessage: isReadable = self.delivery.restoreFailure(name.key, memo)
            case .profile: isReadable = self.people.restoreProfile(name.key, memo)
            case .followList: isReadable = self.people.own.restoreFollowList(memo)
            case .groupProfile: isReadable = self.people.restoreGroupProfile(name, memo)
            case .copyNotice: isReadable = self.convergence.restoreOwnNotices(memo)
            case .keyTask: isReadable = self.signer.restore(name.key, memo)
            case .pushSettings: isReadable = self.notifications.tokens.restoreSettings(memo)
            case .pushRoutes: isReadable = self.notifications.tokens.restore(name, memo)
            case .rollbacks: isReadable = self.convergence.restoreRollbacks(of: GroupID(name.key), memo)
            case .carrierEvent, .withdrawal, .heldMessage, .otherStates, .tombstone:
                isReadable = self.settlement.restore(name, memo)
            case .feedItem: isReadable = self.inbox.feeds.restore(name.key, memo)
            case .groupIntent, .reseal, .keyAge, .mediaSecrets, .copiedGroup: break
            }
            guard isReadable else {
                throw AppCoreError(.corruptState, "a memo of kind \(name.kind.rawValue) cannot be read")
            }
        }
        self.inbox.feeds.sort()
        self.state.invites = stored.invites.map {
            .init($0, group: previews[$0.wrapper])
        }
        self.refreshOwnProfile()
        self.showFollowList()
    }
}
