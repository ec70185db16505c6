import MLS
import Nostr

/// People's names, everywhere in the state.
extension CoreModel {
    /// Returns a person's public name, else the beginning of the npub.
    func shownName(of key: PublicKey) -> String { self.profile(of: key).shownName }

    /// Returns a member's name in the group, else the public name, else the beginning of the npub.
    func shownName(of key: PublicKey, inGroup groupID: GroupID) -> String {
        self.name(of: key, inGroup: groupID) ?? self.shownName(of: key)
    }

    /// Returns a member's name in the group, else the public name; nil if neither is known.
    func name(of key: PublicKey, inGroup groupID: GroupID) -> String? {
        self.people.groups[groupID][key]?.shown.ownName ?? self.people.profiles[key]?.shown.ownName
    }

    /// Returns the address of a member's picture in the group, else of its public one; nil if neither is known, or if the
    /// one in the group is encrypted.
    func picture(of key: PublicKey, inGroup groupID: GroupID) -> String? {
        if let profile = self.people.groups[groupID][key], let picture = profile.shown.picture {
            return profile.picture == nil ? picture : nil
        }
        return self.people.profiles[key]?.shown.picture
    }

    func profile(of key: PublicKey) -> AppState.Profile {
        self.people.profiles[key]?.shown ?? AppState.Profile(publicKey: key)
    }

    /// Updates the state after profiles have changed. The cost depends on the places where they appear; the rest is not
    /// copied.
    ///
    /// - Parameter groupID: the group whose profiles changed; nil for public profiles.
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
        let names = { (member: AppState.Member) in keys.contains(member.publicKey) }
        return self.state.chatList.lazy.filter { chat in
            chat.members.contains(where: names) || chat.me.map(names) == true
        }
        .compactMap { $0.chatID.groupID }
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
