import Nostr
import PikaCore

/// Commands that change a group, or read and set its profile.
enum GroupCommands {
    /// Returns the first step of a command.
    static func begin(
        _ command: DaemonCommand, key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        switch command {
        case .initGroup(let peer, let name, let groupProtocol):
            return try self.initGroup(
                try CommandArguments.publicKey(peer), name, try CommandArguments.groupProtocol(groupProtocol), key: key,
                machine)
        case .foundGroup(let peers, let name, let onMissing, let groupProtocol):
            let action = AppAction.createGroupChat(
                name: name, peers: try CommandArguments.publicKeys(peers),
                missing: try CommandArguments.missingPeers(onMissing),
                groupProtocol: try CommandArguments.groupProtocol(groupProtocol))
            return try self.found(action, key: key, machine)
        case .addMembers(let group, let peers, let onMissing):
            return try self.add(
                try CommandArguments.publicKeys(peers), try CommandArguments.missingPeers(onMissing), to: group,
                key: key, &machine)
        case .renameGroup(let group, let name):
            return try self.set(group, key: key, &machine) { .renameGroup(chatID: $0, name: name) }
        case .describeGroup(let group, let description):
            return try self.set(group, key: key, &machine) {
                .setGroupDescription(chatID: $0, description: description)
            }
        case .setGroupAdmins(let group, let admins):
            let admins = try CommandArguments.publicKeys(admins)
            return try self.set(group, key: key, &machine) { .setGroupAdmins(chatID: $0, admins: admins) }
        case .setGroupRelays(let group, let relays):
            let relays = try CommandArguments.relays(relays)
            guard !relays.isEmpty else { throw DaemonFailure(.badRelays, "relays list is empty") }
            return try self.set(group, key: key, &machine) { .setGroupRelays(chatID: $0, relays: relays) }
        case .removeMembers(let group, let peers):
            return try self.remove(try CommandArguments.publicKeys(peers), from: group, key: key, &machine)
        case .leaveGroup(let group, let successor):
            return try self.leave(
                group,
                successor: try successor.map { text throws(DaemonFailure) in try CommandArguments.publicKey(text) },
                key: key, &machine)
        case .disbandGroup(let group): return try self.disband(group, key: key, &machine)
        case .enableDisbanding(let group): return try self.enableDisbanding(group, key: key, &machine)
        case .updateGroupProfile(let group, let name, let about):
            let draft = try CommandArguments.profileDraft(name: name.trimmed, about: about.trimmed)
            return self.saveProfile(draft, try machine.group(group).chatID, key: key, machine)
        case .getGroupProfile(let group):
            return self.readProfile(of: try machine.group(group)) {
                (machine: inout DaemonMachine, profile: DaemonGroupProfile) throws(DaemonFailure) -> CommandStep in
                .reply(CommandResult(result: profile.json))
            }
        case .uploadGroupProfileImage(let group, let image, let type):
            let draft = try CommandArguments.profileDraft(image: image.trimmed, type: type.trimmed.lowercased())
            return self.saveProfile(draft, try machine.group(group).chatID, key: key, machine)
        default: return .reply(CommandResult())
        }
    }

    // MARK: Members

    private static func initGroup(
        _ peer: PublicKey, _ name: String, _ groupProtocol: GroupProtocol?, key: String?, _ machine: DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        try machine.requireRelays()
        let action = AppAction.createChat(peer: peer, name: name, groupProtocol: groupProtocol)
        return .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            let group: DaemonGroup
            switch outcome {
            case .done(let chatID?): group = try machine.group(chatID)
            case .partlyDone(_, let left): throw DaemonFailure.invitationsFailed(left)
            default: throw DaemonFailure.membership(outcome)
            }
            return try self.report(.created, of: group.chatID, &machine) {
                (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
                .reply(
                    CommandResult(
                        before: events,
                        result: [
                            "nostr_group_id": .string(group.nostrGroupID),
                            "mls_group_id": .string(group.chatID.rawValue),
                            "peer_pubkey": .string(peer.hex), "protocol": group.protocolName,
                        ], after: [.groupCreated(group, peer: peer)]))
            }
        }
    }

    /// Creates a group with several peers.
    private static func found(
        _ action: AppAction, key: String?, _ machine: DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        try machine.requireRelays()
        return .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            let group: DaemonGroup
            var left: [PublicKey: InviteFailure] = [:]
            switch outcome {
            case .done(let chatID?): group = try machine.group(chatID)
            case .partlyDone(let chatID, let peers):
                group = try machine.group(chatID)
                left = peers
            default: throw DaemonFailure.membership(outcome)
            }
            var result = group.json
            result["members"] = group.memberList
            result["left_out"] = left.json
            return try self.report(.created, of: group.chatID, &machine) {
                (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
                .reply(CommandResult(before: events, result: result))
            }
        }
    }

    private static func add(
        _ peers: [PublicKey], _ missing: MissingPeers, to reference: String, key: String?,
        _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        try machine.requireRelays()
        let chatID = try machine.group(reference).chatID
        let action = AppAction.addGroupMembers(chatID: chatID, peers: peers, missing: missing)
        return self.change(chatID, action, key: key, &machine) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            var left: [PublicKey: InviteFailure] = [:]
            switch outcome {
            case .done: break
            case .partlyDone(_, let peers): left = peers
            default: throw DaemonFailure.membership(outcome)
            }
            let added = peers.filter { peer in
                if case .keyPackage? = left[peer] { false } else { true }
            }
            let group = try self.group(chatID, after: "add_members", machine)
            return try self.report(.membersAdded, of: chatID, &machine) {
                (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
                var fields = self.fields("added_pubkeys", added, of: group)
                fields["welcome_delivery_count"] = .integer(Int64(max(0, peers.count - left.count)))
                if missing == .proceedWithout || !left.isEmpty { fields["left_out"] = left.json }
                return .reply(CommandResult(before: events, result: fields))
            }
        }
    }

    private static func remove(
        _ peers: [PublicKey], from reference: String, key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        try machine.requireRelays()
        let chatID = try machine.group(reference).chatID
        return self.change(chatID, .removeGroupMembers(chatID: chatID, peers: peers), key: key, &machine) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            guard case .done = outcome else { throw DaemonFailure.membership(outcome) }
            let group = try self.group(chatID, after: "remove_members", machine)
            return try self.report(.membersRemoved, of: chatID, &machine) {
                (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
                .reply(CommandResult(before: events, result: self.fields("removed_pubkeys", peers, of: group)))
            }
        }
    }

    /// Returns the reply's fields about changed members; `name` is the field with the members' keys.
    private static func fields(_ name: String, _ peers: [PublicKey], of group: DaemonGroup) -> JSONObject {
        [
            "nostr_group_id": .string(group.nostrGroupID), name: .array(peers.map { .string($0.hex) }),
            "member_count": .integer(Int64(group.members.count)),
        ]
    }

    private static func leave(
        _ reference: String, successor: PublicKey?, key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        try machine.requireRelays()
        let chatID = try self.endingChat(reference, key: key, machine)
        machine.memberships.beginLeaving(chatID)
        return self.change(chatID, .leaveGroup(chatID: chatID, successor: successor), key: key, &machine) {
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

    private static func disband(
        _ reference: String, key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        try machine.requireRelays()
        let chatID = try self.endingChat(reference, key: key, machine)
        return self.change(chatID, .disbandGroup(chatID: chatID), key: key, &machine) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            guard case .done = outcome else { throw DaemonFailure.membership(outcome) }
            return .reply(
                CommandResult(
                    before: [.groupUpdated(machine.leftUpdate(chatID))],
                    result: ["nostr_group_id": .string(machine.nostrGroupID(of: chatID))]))
        }
    }

    private static func enableDisbanding(
        _ reference: String, key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        try machine.requireRelays()
        let chatID = try machine.group(reference).chatID
        return self.change(chatID, .enableDisbanding(chatID: chatID), key: key, &machine) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            guard case .done = outcome else { throw DaemonFailure.membership(outcome) }
            return .reply(CommandResult(result: ["nostr_group_id": .string(machine.nostrGroupID(of: chatID))]))
        }
    }

    /// Changes a field of the group; the reply is the group after the change.
    private static func set(
        _ reference: String, key: String?, _ machine: inout DaemonMachine, _ action: (ChatID) -> AppAction
    ) throws(DaemonFailure) -> CommandStep {
        try machine.requireRelays()
        let chatID = try machine.group(reference).chatID
        return self.change(chatID, action(chatID), key: key, &machine) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            guard case .done = outcome else { throw DaemonFailure.membership(outcome) }
            let group = try self.group(chatID, after: "the change", machine)
            var fields = group.json
            fields["members"] = group.memberList
            fields["relays"] = .array(group.relays.map { .string($0.string) })
            return .reply(CommandResult(result: fields))
        }
    }

    /// Returns the chat of a command after which this account is no longer a member. In a retry, with the same key, the
    /// group may be gone.
    private static func endingChat(
        _ reference: String, key: String?, _ machine: DaemonMachine
    ) throws(DaemonFailure) -> ChatID {
        key == nil
            ? try machine.listedChat(reference)
            : try machine.chat(reference)?.chatID ?? ChatID(rawValue: reference.lowercased())
    }

    /// Performs the action, and suppresses the core's own report of the change.
    private static func change(
        _ chatID: ChatID, _ action: AppAction, key: String?, _ machine: inout DaemonMachine,
        then next: @escaping CommandStep.Next<ActionOutcome?>
    ) -> CommandStep {
        machine.memberships.beginChange(of: chatID)
        return .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            .waitForEvents { (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                machine.memberships.endChange(of: chatID)
                return try next(&machine, outcome)
            }
        }
    }

    private static func group(
        _ chatID: ChatID, after command: String, _ machine: DaemonMachine
    ) throws(DaemonFailure) -> DaemonGroup {
        guard let group = machine.groupIfKnown(chatID) else {
            throw DaemonFailure(.runtimeError, "lookup joined group after \(command): the group is gone")
        }
        return group
    }

    // MARK: Profile

    private static func saveProfile(
        _ draft: ProfileDraft, _ chatID: ChatID, key: String?, _ machine: DaemonMachine
    ) -> CommandStep {
        .request(.saveGroupProfile(chatID: chatID, draft), key: key, within: machine.settings.mediaPatience) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            switch outcome {
            case .failed(let error): throw DaemonFailure.profile(error)
            case nil: throw DaemonFailure(.publishFailed, "no relay answered in time; it stays queued")
            case .queued(let messageID, _):
                return try machine.requireRelay(messageID) {
                    (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                    try self.profileReply(chatID, &machine)
                }
            case .done, .partlyDone, .found: return try self.profileReply(chatID, &machine)
            }
        }
    }

    private static func profileReply(
        _ chatID: ChatID, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        let group = try machine.group(chatID)
        return try self.report(.profileUpdated, of: chatID, &machine) {
            (machine: inout DaemonMachine, events: [DaemonEvent]) throws(DaemonFailure) -> CommandStep in
            self.readProfile(of: group) {
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

    /// Passes on the event for a change of a group by this command, or no event if this account is no longer a member.
    private static func report(
        _ kind: DaemonGroupUpdate.Kind, of chatID: ChatID, _ machine: inout DaemonMachine,
        then next: @escaping CommandStep.Next<[DaemonEvent]>
    ) throws(DaemonFailure) -> CommandStep {
        guard let group = machine.groupIfKnown(chatID) else { return try next(&machine, []) }
        return .readProfiles(chatID: group.chatID) {
            (machine: inout DaemonMachine, known: [AppState.Profile]) throws(DaemonFailure) -> CommandStep in
            try next(&machine, [machine.update(kind, of: group, known)])
        }
    }
}

extension [PublicKey: InviteFailure] {
    /// The peers that were left out, with the reasons.
    fileprivate var json: JSONValue {
        .array(self.sorted { $0.key < $1.key }.map { $0.value.json(of: $0.key) })
    }
}
