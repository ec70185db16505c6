import Nostr
import PikaCore

/// Commands about the account and its invitations.
extension DaemonMachine {
    /// Returns the first step of a command that the client may run.
    mutating func begin(
        _ command: DaemonCommand, _ context: CommandContext
    ) throws(DaemonFailure) -> CommandStep {
        switch command {
        case .hello(let hello): return try self.hello(hello, context.client)
        case .acknowledge(let cursor):
            let effects = try self.program.acknowledge(
                cursor, context.client, last: self.log.last, now: context.nowMilliseconds)
            return .perform(effects) { (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                .reply(CommandResult())
            }
        case .shutdown: return .reply(CommandResult())
        case .publishKeyPackage(let relays): return try self.publishKeyPackage(relays)
        case .setRelays(let texts):
            return try self.setRelays(texts) {
                (machine: inout DaemonMachine, relays: [RelayURL]) throws(DaemonFailure) -> CommandStep in
                .reply(CommandResult(result: ["relays": .array(relays.map { .string($0.string) })]))
            }
        case .registerPushToken(let token):
            return Self.changePush(
                .registerPushToken(try CommandArguments.pushRegistration(token)), key: context.key)
        case .removePushToken: return Self.changePush(.removePushToken, key: context.key)
        case .setPushNotifications(let isOn): return Self.changePush(.setPushNotifications(isOn), key: context.key)
        case .listPendingWelcomes:
            let welcomes = self.admittedInvites.map { JSONValue.object(DaemonWelcome($0).fields()) }
            return .reply(CommandResult(result: ["welcomes": .array(welcomes)]))
        case .acceptWelcome(let id): return try self.acceptWelcome(id, key: context.key)
        case .listGroups:
            let groups = self.state.chatList.filter(\.isListed)
            return .reply(CommandResult(result: ["groups": .array(groups.map { .object(DaemonGroup($0).json) })]))
        case .listMembers(let group): return .reply(CommandResult(result: try self.activeChat(group).membersJSON))
        case .getCall:
            let call = self.state.activeCall.map { JSONValue.object($0.json(in: self.nostrGroupID(of: $0.chatID))) }
            return .reply(CommandResult(result: call.map { ["call": $0] } ?? [:]))
        case .getMessages(let group, let limit, let before): return try self.readMessages(of: group, before, limit)
        case .hypernoteCatalog: return .reply(CommandResult(result: ["catalog": HypernoteCatalog.json]))
        case .initGroup, .foundGroup, .renameGroup, .describeGroup, .setGroupAdmins, .setGroupRelays, .addMembers,
            .removeMembers, .leaveGroup, .disbandGroup, .enableDisbanding,
            .updateGroupProfile, .getGroupProfile, .uploadGroupProfileImage:
            return try GroupCommands.begin(command, key: context.key, &self)
        case .sendMessage, .sendHypernote, .react, .submitHypernoteAction, .sendMedia, .sendMediaBatch, .sendTyping:
            return try MessageCommands.begin(command, key: context.key, &self)
        case .listAccounts, .logIn, .logOut: return .manageAccounts(command)
        case .inviteCall, .acceptCall, .rejectCall, .endCall, .sendAudioResponse, .sendAudioFile, .sendCallData:
            return try CallCommands.begin(command, context, &self)
        }
    }

    // MARK: Account

    /// Applies `hello`; a program's is applied after the reply.
    private mutating func hello(
        _ hello: DaemonCommand.Hello, _ client: DaemonClient
    ) throws(DaemonFailure) -> CommandStep {
        let context = ClientSessions.HelloContext(
            account: self.account, newestCursor: self.log.last, oldestCursor: self.log.oldest,
            waitingEvents: self.program.span(last: self.log.last), tokens: self.settings.tokens)
        guard let result = try self.clients.hello(hello, client, context) else { return .reply(CommandResult()) }
        if client.origin == .program { self.program.request(hello, client, oldestCursor: self.log.oldest) }
        return .greet(hello.client ?? "", CommandResult(result: result))
    }

    private mutating func publishKeyPackage(_ relays: [String]) throws(DaemonFailure) -> CommandStep {
        guard !relays.isEmpty else { return try self.announceKeyPackage() }
        return try self.setRelays(relays) {
            (machine: inout DaemonMachine, relays: [RelayURL]) throws(DaemonFailure) -> CommandStep in
            try machine.announceKeyPackage()
        }
    }

    private func announceKeyPackage() throws(DaemonFailure) -> CommandStep {
        try self.requireRelays()
        return .request(.publishKeyPackage, key: nil, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            switch outcome {
            case .failed(let error): throw DaemonFailure(.mdkError, error.message)
            case nil: throw DaemonFailure.coreTimeout
            case .done, .partlyDone, .found, .queued: return machine.waitForKeyPackage()
            }
        }
    }

    /// Waits for the first relay, and then for the others.
    private func waitForKeyPackage() -> CommandStep {
        .waitForState(self.settings.commandPatience, { $0.keyPackage.isStored || $0.keyPackage.isRefused }) {
            (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
            guard machine.state.keyPackage.isStored else { return try machine.keyPackageReply() }
            return .waitForState(machine.settings.otherRelaysPatience, { $0.keyPackage.isAnswered }) {
                (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                try machine.keyPackageReply()
            }
        }
    }

    private func keyPackageReply() throws(DaemonFailure) -> CommandStep {
        let announcement = self.state.keyPackage.explained(by: self.state.relays)
        guard announcement.isStored, let event = announcement.event else {
            throw DaemonFailure(.publishFailed, announcement.failure)
        }
        return .reply(CommandResult(result: announcement.json, after: [.keyPackagePublished(event)]))
    }

    private mutating func setRelays(
        _ texts: [String], then next: @escaping CommandStep.Next<[RelayURL]>
    ) throws(DaemonFailure) -> CommandStep {
        var changed = self.settings.core
        // With an empty list the pikachat daemon falls back to its first relay.
        let relays = texts.isEmpty ? Array(changed.relays.prefix(1)) : try CommandArguments.relays(texts)
        guard !relays.isEmpty else { throw DaemonFailure(.badRelays, "relays list is empty") }
        guard relays != changed.relays else { return try next(&self, relays) }
        changed.relays = relays
        let configuration = changed
        return .request(.reloadConfiguration(configuration), key: nil, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            switch outcome {
            case .failed(let error): throw DaemonFailure(.badRelays, error.message)
            case nil: throw DaemonFailure.coreTimeout
            case .done, .partlyDone, .found, .queued:
                machine.apply(configuration)
                return try next(&machine, relays)
            }
        }
    }

    private static func changePush(_ action: AppAction, key: String?) -> CommandStep {
        .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            switch outcome {
            case .failed(let error): throw DaemonFailure(.badRequest, error.message)
            case nil: throw DaemonFailure.coreTimeout
            case .done, .partlyDone, .found, .queued: return .reply(CommandResult())
            }
        }
    }

    // MARK: Invitations

    private static let welcomeHint = "use wrapper_event_id or welcome_event_id from list_pending_welcomes"

    private mutating func acceptWelcome(_ text: String, key: String?) throws(DaemonFailure) -> CommandStep {
        let id = try CommandArguments.eventID(text, "wrapper_event_id must be hex; \(Self.welcomeHint)")
        let invite = self.admittedInvites.first { $0.wrapper == id || $0.welcome == id }
        // A retry: an invitation accepted under this key before is no longer pending.
        guard let wrapper = invite?.wrapper ?? (key == nil ? nil : id) else {
            throw DaemonFailure(.notFound, "pending welcome not found; \(Self.welcomeHint)")
        }
        self.memberships.beginAccepting()
        return .request(.acceptInvite(wrapper: wrapper), key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            guard case .done(let chatID?) = outcome else { return machine.refuseJoin(outcome) }
            return .waitForState(15_000, { !$0.readingChats.contains(chatID) }) {
                (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                .waitForEvents { (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                    machine.join(chatID, outcome)
                }
            }
        }
    }

    /// Reports a join, after the group's earlier messages were sent to clients.
    private mutating func join(_ chatID: ChatID, _ outcome: ActionOutcome?) -> CommandStep {
        guard let group = self.groupIfKnown(chatID) else { return self.refuseJoin(outcome) }
        return .announceJoins(self.memberships.endAccepting(announcing: chatID)) {
            (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
            .reply(
                CommandResult(
                    result: [
                        "nostr_group_id": .string(group.nostrGroupID), "mls_group_id": .string(group.chatID.rawValue),
                    ], after: [.groupJoined(group)]))
        }
    }

    /// Reports that the account did not join, or is no longer a member.
    private mutating func refuseJoin(_ outcome: ActionOutcome?) -> CommandStep {
        .announceJoins(self.memberships.endAccepting(announcing: nil)) {
            (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
            switch outcome {
            case .failed(let error) where error.code == .unknownInvite:
                throw DaemonFailure(.notFound, "pending welcome not found; \(Self.welcomeHint)")
            case .failed(let error): throw DaemonFailure(.mdkError, error.message)
            case nil: throw DaemonFailure(.mdkError, DaemonFailure.coreTimeout.message)
            default: throw DaemonFailure(.mdkError, "this account is no longer a member of the group")
            }
        }
    }

    // MARK: Messages

    private func readMessages(
        of reference: String, _ place: DaemonCommand.Place?, _ limit: Int
    ) throws(DaemonFailure) -> CommandStep {
        guard (1...10_000).contains(limit) else {
            throw DaemonFailure(.mdkError, "limit must be between 1 and 10000, not \(limit)")
        }
        let chatID = try self.chat(reference)?.chatID ?? ChatID(rawValue: reference.lowercased())
        var before: StoredMessage.Position?
        if let place {
            before = StoredMessage.Position(
                createdAt: UnixTime(place.createdAt), id: try CommandArguments.eventID(place.messageID))
        }
        return .readMessages(chatID: chatID, before: before, limit: limit) {
            (machine: inout DaemonMachine, found: Result<[StoredMessage], any Error>) throws(DaemonFailure)
                -> CommandStep in
            switch found {
            case .success(let messages): return .reply(.messages(messages))
            case .failure(let error):
                throw DaemonFailure(.mdkError, (error as? AppCoreError)?.message ?? "cannot read the messages")
            }
        }
    }

    // MARK: Relays

    /// Continues once a relay has accepted the message, or at once if commands do not wait for relays.
    mutating func requireRelay(
        _ messageID: EventID, then next: @escaping CommandStep.Continue
    ) throws(DaemonFailure) -> CommandStep {
        guard self.settings.waitsForRelays else { return try next(&self) }
        return .waitForRelay(messageID) {
            (machine: inout DaemonMachine, delivery: AppState.Delivery?) throws(DaemonFailure) -> CommandStep in
            switch delivery {
            case .sent, .received: return try next(&machine)
            case .failed(let reason): throw DaemonFailure(.publishFailed, reason)
            case .pending, nil:
                throw DaemonFailure(.publishFailed, "no relay accepted the message in time; it stays queued")
            }
        }
    }
}
