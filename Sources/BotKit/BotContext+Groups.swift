/// Changes to groups: to the event's chat, or to another one named by chat id or unambiguous nostrGroupID. ``OnOutcome``
/// reports the outcome by the returned id.
extension BotContext {
    /// Adds members; looks up their key packages on the relays.
    ///
    /// `missing` decides whether peers without a usable key package fail the whole change or are left out.
    @discardableResult
    public func addMembers(_ peers: [PublicKey], missing: MissingPeers = .fail, in chatID: ChatID? = nil) -> ActionID {
        change(chatID) { .addGroupMembers(chatID: $0, peers: peers, missing: missing) }
    }

    /// Removes members from the group.
    @discardableResult
    public func removeMembers(_ peers: [PublicKey], in chatID: ChatID? = nil) -> ActionID {
        change(chatID) { .removeGroupMembers(chatID: $0, peers: peers) }
    }

    /// Removes the account from the group. The only admin names a `successor`, a member that becomes an admin first.
    @discardableResult
    public func leave(_ chatID: ChatID? = nil, successor: PublicKey? = nil) -> ActionID {
        change(chatID) { .leaveGroup(chatID: $0, successor: successor) }
    }

    /// Changes the group's name, at most 255 bytes of UTF-8; 256 in groups of the second generation.
    @discardableResult
    public func rename(to name: String, in chatID: ChatID? = nil) -> ActionID {
        change(chatID) { .renameGroup(chatID: $0, name: name) }
    }

    /// Changes the group's description, at most 2,000 bytes of UTF-8; 4,096 in groups of the second generation.
    @discardableResult
    public func setDescription(_ description: String, in chatID: ChatID? = nil) -> ActionID {
        change(chatID) { .setGroupDescription(chatID: $0, description: description) }
    }

    /// Replaces the group's list of admins. All of them must be members.
    @discardableResult
    public func setAdmins(_ admins: [PublicKey], in chatID: ChatID? = nil) -> ActionID {
        change(chatID) { .setGroupAdmins(chatID: $0, admins: admins) }
    }

    /// Encrypts and uploads an image for the group; nil removes the current one.
    @discardableResult
    public func setImage(_ image: OutgoingImage?, in chatID: ChatID? = nil) -> ActionID {
        change(chatID) { .setGroupImage(chatID: $0, image) }
    }

    /// Creates a group with these peers, whose key packages are looked up on the relays; the account is its admin.
    ///
    /// `missing` decides whether peers without a usable key package fail the creation or are left out, `groupProtocol`
    /// the generation of the group; nil for the one that the configuration chooses (`protocol`).
    @discardableResult
    public func createGroup(
        _ name: String, with peers: [PublicKey], missing: MissingPeers = .fail, groupProtocol: GroupProtocol? = nil
    ) -> ActionID {
        dispatch(.createGroupChat(name: name, peers: peers, missing: missing, groupProtocol: groupProtocol))
    }

    /// Ends the group for all members, irrevocably. Only admins of groups of the second generation can do this.
    @discardableResult
    public func disband(_ chatID: ChatID? = nil) -> ActionID {
        change(chatID) { .disbandGroup(chatID: $0) }
    }

    /// Makes ``disband(_:)`` possible in a group of the second generation whose founder did not.
    @discardableResult
    public func enableDisbanding(in chatID: ChatID? = nil) -> ActionID {
        change(chatID) { .enableDisbanding(chatID: $0) }
    }

    private func change(_ chatID: ChatID?, _ action: (ChatID) -> AppAction) -> ActionID {
        guard let chatID = chat(chatID) else { return noAction }
        return dispatch(action(chatID))
    }
}
