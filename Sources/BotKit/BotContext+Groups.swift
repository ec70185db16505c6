/// Changes of groups: of the event's chat, or of another one. How they end shows in later snapshots only; what the
/// account is not allowed to do is counted as failed.
extension BotContext {
    /// Brings people in, found by their key packages on the relays.
    public func addMembers(_ peers: [PublicKey], missing: MissingPeers = .fail, in chatID: String? = nil) {
        change(chatID) { .addGroupMembers(chatID: $0, peers: peers, missing: missing) }
    }

    public func removeMembers(_ peers: [PublicKey], in chatID: String? = nil) {
        change(chatID) { .removeGroupMembers(chatID: $0, peers: peers) }
    }

    /// Takes the account out of the group.
    public func leave(_ chatID: String? = nil) {
        change(chatID) { .leaveGroup(chatID: $0) }
    }

    public func rename(to name: String, in chatID: String? = nil) {
        change(chatID) { .renameGroup(chatID: $0, name: name) }
    }

    public func setDescription(_ description: String, in chatID: String? = nil) {
        change(chatID) { .setGroupDescription(chatID: $0, description: description) }
    }

    /// All admins of the group from then on; they must be members.
    public func setAdmins(_ admins: [PublicKey], in chatID: String? = nil) {
        change(chatID) { .setGroupAdmins(chatID: $0, admins: admins) }
    }

    /// Encrypts and uploads a picture for the group; nil takes it away.
    public func setImage(_ image: OutgoingImage?, in chatID: String? = nil) {
        change(chatID) { .setGroupImage(chatID: $0, image) }
    }

    /// Founds a group with these peers.
    public func createGroup(_ name: String, with peers: [PublicKey], missing: MissingPeers = .fail) {
        dispatch(.createGroupChat(name: name, peers: peers, missing: missing))
    }

    private func change(_ chatID: String?, _ action: (String) -> AppAction) {
        guard let chatID = chat(chatID) else { return }
        dispatch(action(chatID))
    }
}
