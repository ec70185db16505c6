import Nostr
import PikaCore

/// Commands that change a group, or read and set its profile.
extension DaemonMachine {
    mutating func begin(group command: DaemonCommand, key: String?) throws(DaemonFailure) -> CommandStep {
        switch command {
        case .initGroup(let peer, let name):
            return try self.initGroup(try CommandArguments.publicKey(peer), name, key: key)
        case .addMembers(let group, let peers):
            return try self.add(try CommandArguments.publicKeys(peers), to: group, key: key)
        case .removeMembers(let group, let peers):
            return try self.remove(try CommandArguments.publicKeys(peers), from: group, key: key)
        case .leaveGroup(let group): return try self.leave(group, key: key)
        case .updateGroupProfile(let group, let name, let about):
            let draft = try CommandArguments.profileDraft(name: name.trimmed, about: about.trimmed)
            return self.saveProfile(draft, try self.group(group).chatID, key: key)
        case .getGroupProfile(let group):
            return Self.readProfile(of: try self.group(group)) {
                (machine: inout DaemonMachine, profile: DaemonGroupProfile) throws(DaemonFailure) -> CommandStep in
                .reply(CommandResult(result: profile.json))
            }
        case .uploadGroupProfileImage(let group, let image, let type):
            let draft = try CommandArguments.profileDraft(image: image.trimmed, type: type.trimmed.lowercased())
            return self.saveProfile(draft, try self.group(group).chatID, key: key)
        default: return .reply(CommandResult())
        }
    }

    // MARK: Members

    private func initGroup(_ peer: PublicKey, _ name: String, key: String?) throws(DaemonFailure) -> CommandStep {
        try self.requireRelays()
        return .request(.createChat(peer: peer, name: name), key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            let group: DaemonGroup
            switch outcome {
            case .done(let chatID?): group = try machine.group(chatID)
            case .partlyDone(_, let left): throw DaemonFailure.invitationsFailed(left)
            default: throw DaemonFailure.membership(outcome)
            }
            return try machine.report(.created, of: group.chatID) {
                (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
                .reply(
                    CommandResult(
                        before: events,
                        result: [
                            "nostr_group_id": .string(group.nostrGroupID), "mls_group_id": .string(group.chatID),
                            "peer_pubkey": .string(peer.hex),
                        ], after: [.groupCreated(group, peer: peer)]))
            }
        }
    }

    private mutating func add(
        _ peers: [PublicKey], to reference: String, key: String?
    ) throws(DaemonFailure) -> CommandStep {
        try self.requireRelays()
        let chatID = try self.group(reference).chatID
        return self.change(chatID, .addGroupMembers(chatID: chatID, peers: peers), key: key) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            let undelivered: Int
            switch outcome {
            case .done: undelivered = 0
            case .partlyDone(_, let left): undelivered = left.count
            default: throw DaemonFailure.membership(outcome)
            }
            let group = try machine.group(after: "add_members", chatID)
            return try machine.report(.membersAdded, of: chatID) {
                (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
                .reply(
                    CommandResult(
                        before: events,
                        result: [
                            "nostr_group_id": .string(group.nostrGroupID),
                            "added_pubkeys": .array(peers.map { .string($0.hex) }),
                            "member_count": .integer(Int64(group.members.count)),
                            "welcome_delivery_count": .integer(Int64(max(0, peers.count - undelivered))),
                        ]))
            }
        }
    }

    private mutating func remove(
        _ peers: [PublicKey], from reference: String, key: String?
    ) throws(DaemonFailure) -> CommandStep {
        try self.requireRelays()
        let chatID = try self.group(reference).chatID
        return self.change(chatID, .removeGroupMembers(chatID: chatID, peers: peers), key: key) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            guard case .done = outcome else { throw DaemonFailure.membership(outcome) }
            let group = try machine.group(after: "remove_members", chatID)
            return try machine.report(.membersRemoved, of: chatID) {
                (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
                .reply(
                    CommandResult(
                        before: events,
                        result: [
                            "nostr_group_id": .string(group.nostrGroupID),
                            "removed_pubkeys": .array(peers.map { .string($0.hex) }),
                            "member_count": .integer(Int64(group.members.count)),
                        ]))
            }
        }
    }

    private mutating func leave(_ reference: String, key: String?) throws(DaemonFailure) -> CommandStep {
        try self.requireRelays()
        // A retry: the group left under this key may be gone.
        let chatID =
            key == nil
            ? try self.group(reference).chatID : try self.chat(reference)?.chatID ?? reference.lowercased()
        self.memberships.beginLeaving(chatID)
        return self.change(chatID, .leaveGroup(chatID: chatID), key: key) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            guard case .done = outcome else {
                machine.memberships.cancelLeaving(chatID)
                throw DaemonFailure.membership(outcome)
            }
            return .reply(
                CommandResult(
                    before: [.groupUpdated(machine.leftUpdate(chatID))],
                    result: ["nostr_group_id": .string(machine.nostrGroupID(of: chatID))]))
        }
    }

    /// Performs the action, and suppresses the core's own report of the change.
    private mutating func change(
        _ chatID: String, _ action: AppAction, key: String?, then next: @escaping CommandStep.Next<ActionOutcome?>
    ) -> CommandStep {
        self.memberships.beginChange(of: chatID)
        return .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            .waitForEvents { (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                machine.memberships.endChange(of: chatID)
                return try next(&machine, outcome)
            }
        }
    }

    private func group(after command: String, _ chatID: String) throws(DaemonFailure) -> DaemonGroup {
        guard let group = self.groupIfKnown(chatID) else {
            throw DaemonFailure(.runtimeError, "lookup joined group after \(command): the group is gone")
        }
        return group
    }

    // MARK: Profile

    private func saveProfile(_ draft: ProfileDraft, _ chatID: String, key: String?) -> CommandStep {
        .request(.saveGroupProfile(chatID: chatID, draft), key: key, within: self.settings.mediaPatience) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            switch outcome {
            case .failed(let error): throw DaemonFailure.profile(error)
            case nil: throw DaemonFailure(.publishFailed, "no relay answered in time; it stays queued")
            case .queued(let messageID, _):
                return try machine.requireRelay(messageID) {
                    (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                    try machine.profileReply(chatID)
                }
            case .done, .partlyDone, .found: return try machine.profileReply(chatID)
            }
        }
    }

    private mutating func profileReply(_ chatID: String) throws(DaemonFailure) -> CommandStep {
        let group = try self.group(chatID)
        return try self.report(.profileUpdated, of: chatID) {
            (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
            Self.readProfile(of: group) {
                (machine: inout DaemonMachine, profile: DaemonGroupProfile) throws(DaemonFailure) -> CommandStep in
                .reply(CommandResult(before: events, result: profile.json))
            }
        }
    }

    /// Reads the group's profile: the newest one that an admin has set in it. The group's name and description replace
    /// missing fields.
    private static func readProfile(
        of group: DaemonGroup, then next: @escaping CommandStep.Next<DaemonGroupProfile>
    ) -> CommandStep {
        .readProfiles(chatID: group.chatID) {
            (machine: inout DaemonMachine, known: [AppState.Profile]) throws(DaemonFailure) -> CommandStep in
            try next(&machine, group.profile(among: known, account: machine.account))
        }
    }

    /// Passes on the event for a change of a group by this command; none if this account is no longer a member.
    private mutating func report(
        _ kind: DaemonGroupUpdate.Kind, of chatID: String, then next: @escaping CommandStep.Next<[DaemonEvent]>
    ) throws(DaemonFailure) -> CommandStep {
        guard let group = self.groupIfKnown(chatID) else { return try next(&self, []) }
        return .readProfiles(chatID: group.chatID) {
            (machine: inout DaemonMachine, known: [AppState.Profile]) throws(DaemonFailure) -> CommandStep in
            try next(&machine, [machine.update(kind, of: group, known)])
        }
    }
}
