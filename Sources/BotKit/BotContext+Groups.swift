/// Changes of groups: of the event's chat, or of another one. Their results appear only in later snapshots. Changes
/// that the account is not allowed to make are counted as failed.
extension BotContext {
    /// Adds members, whose key packages are looked up on the relays.
    public func addMembers(_ peers: [PublicKey], missing: MissingPeers = .fail, in chatID: String? = nil) {
        change(chatID) { .addGroupMembers(chatID: $0, peers: peers, missing: missing) }
    }

    public func removeMembers(_ peers: [PublicKey], in chatID: String? = nil) {
        change(chatID) { .removeGroupMembers(chatID: $0, peers: peers) }
    }

    /// Removes the account from the group.
    public func leave(_ chatID: String? = nil) {
        change(chatID) { .leaveGroup(chatID: $0) }
    }

    public func rename(to name: String, in chatID: String? = nil) {
        change(chatID) { .renameGroup(chatID: $0, name: name) }
    }

    public func setDescription(_ description: String, in chatID: String? = nil) {
        change(chatID) { .setGroupDescription(chatID: $0, description: description) }
    }

    /// Replaces the group's list of admins. All of them must be members.
    public func setAdmins(_ admins: [PublicKey], in chatID: String? = nil) {
        change(chatID) { .setGroupAdmins(chatID: $0, admins: admins) }
    }

    /// Encrypts and uploads an image for the group; nil removes the current one.
    public func setImage(_ image: OutgoingImage?, in chatID: String? = nil) {
        change(chatID) { .setGroupImage(chatID: $0, image) }
    }

    /// Creates a group with these peers.
    public func createGroup(_ name: String, with peers: [PublicKey], missing: MissingPeers = .fail) {
        dispatch(.createGroupChat(name: name, peers: peers, missing: missing))
    }

    private func change(_ chatID: String?, _ action: (String) -> AppAction) {
        guard let chatID = chat(chatID) else { return }
        dispatch(action(chatID))
    }
}
