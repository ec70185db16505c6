import MLS
import Nostr

/// What people are called, everywhere in the state.
extension CoreModel {
    /// What somebody calls itself in public, else the beginning of its npub.
    func shownName(of key: PublicKey) -> String { self.profile(of: key).shownName }

    /// What a member calls itself in a group, else in public, else the beginning of its npub.
    func shownName(of key: PublicKey, inGroup groupID: GroupID) -> String {
        self.name(of: key, inGroup: groupID) ?? self.shownName(of: key)
    }

    /// What a member calls itself in a group, else in public; nil if it is not known.
    func name(of key: PublicKey, inGroup groupID: GroupID) -> String? {
        self.people.groupProfiles[groupID]?[key]?.shown.ownName ?? self.people.profiles[key]?.shown.ownName
    }

    func profile(of key: PublicKey) -> AppState.Profile {
        self.people.profiles[key]?.shown ?? AppState.Profile(publicKey: key)
    }

    /// Brings the state in line with profiles that have changed. It costs what they are seen in; the rest is not copied.
    ///
    /// - Parameter groupID: the group that it is about; nil for public profiles.
    mutating func refreshNames(of keys: Set<PublicKey>, inGroup groupID: GroupID? = nil) {
        guard !keys.isEmpty else { return }
        if groupID == nil { self.refreshProfiles(of: keys) }
        for group in groupID.map({ [$0] }) ?? self.groups(naming: keys) { self.refreshChat(group) }
        guard let chat = self.state.currentChat, let group = try? self.groupID(ofChat: chat.chatID),
            groupID ?? group == group
        else { return }
        for (position, message) in chat.messages.enumerated() where keys.contains(message.sender) {
            let name = self.shownName(of: message.sender, inGroup: group)
            guard message.senderName != name else { continue }
            self.state.currentChat?.messages[position].senderName = name
        }
    }

    private func groups(naming keys: Set<PublicKey>) -> [GroupID] {
        self.state.chatList.lazy.filter { chat in chat.members.contains { keys.contains($0.publicKey) } }
            .compactMap { GroupID(hex: $0.chatID) }
    }

    private mutating func refreshProfiles(of keys: Set<PublicKey>) {
        if keys.contains(self.account.publicKey) { self.refreshOwnProfile() }
        for (position, peer) in self.state.followList.enumerated() where keys.contains(peer.profile.publicKey) {
            let profile = self.profile(of: peer.profile.publicKey)
            self.state.followList[position].profile = profile
        }
        if let peer = self.state.peerProfile, keys.contains(peer.profile.publicKey) {
            let profile = self.profile(of: peer.profile.publicKey)
            self.state.peerProfile?.profile = profile
        }
    }

    mutating func refreshOwnProfile() {
        let known = self.people.profiles[self.account.publicKey]
        self.state.myProfile = known?.source == nil ? nil : known?.shown
    }
}

extension AppState.Profile {
    /// The display name, else the name; nil if the profile has neither.
    var ownName: String? {
        [self.displayName, self.name].lazy.compactMap { $0 }.first { !$0.isEmpty }
    }
}
