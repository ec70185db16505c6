import Nostr
import PikaCore

/// Implementation of each command.
extension DaemonEngine {
    /// - Parameter key: the command's idempotency key. Requests to the core under the same key are performed once.
    func perform(
        _ command: DaemonCommand, key: String?, _ client: DaemonClient
    ) async throws(DaemonFailure) -> Done {
        switch command {
        case .hello(let hello): return try self.greet(hello, client)
        case .acknowledge(let cursor): return try await self.acknowledge(cursor, client)
        case .shutdown: return Done()
        case .publishKeyPackage(let relays): return try await self.publishKeyPackage(relays)
        case .setRelays(let relays): return try await self.setRelays(relays)
        case .listPendingWelcomes: return self.listWelcomes()
        case .acceptWelcome(let id): return try await self.acceptWelcome(id, key: key)
        case .listGroups:
            let groups = self.state.chatList.filter(\.isActive).map { JSONValue.object(DaemonGroup($0).json) }
            return Done(result: ["groups": .array(groups)])
        case .listMembers(let chatID):
            let group = try self.group(chatID)
            return Done(result: [
                "nostr_group_id": .string(group.nostrGroupID), "members": group.memberList,
                "member_count": .integer(Int64(group.members.count)),
            ])
        case .getMessages(let chatID, let limit): return try await self.messages(of: chatID, limit)
        case .hypernoteCatalog: return Done(result: ["catalog": HypernoteCatalog.json])
        case .initGroup, .addMembers, .removeMembers, .leaveGroup, .updateGroupProfile, .getGroupProfile,
            .uploadGroupProfileImage:
            return try await self.changeGroup(command, key: key)
        case .sendMessage, .sendHypernote, .react, .submitHypernoteAction, .sendMedia, .sendMediaBatch, .sendTyping:
            return try await self.send(command, key: key)
        case .inviteCall, .acceptCall, .rejectCall, .endCall, .sendAudioResponse, .sendAudioFile, .sendCallData:
            return try await self.call(command, key: key)
        }
    }

    // MARK: Account

    private func publishKeyPackage(_ relays: [String]) async throws(DaemonFailure) -> Done {
        if !relays.isEmpty { _ = try await self.setRelays(relays) }
        guard !self.settings.core.relays.isEmpty else { throw DaemonFailure(.badRelays, "no relays configured") }
        switch await self.outcome(of: .publishKeyPackage) {
        case .failed(let error): throw DaemonFailure(.mdkError, error.message)
        case nil: throw DaemonFailure(.runtimeError, "the core does not answer")
        case .done, .partlyDone, .found, .queued: break
        }
        _ = await self.wait(self.settings.commandPatience) { $0.keyPackage.isStored || $0.keyPackage.isRefused }
        if self.state.keyPackage.isStored {
            _ = await self.wait(self.settings.otherRelaysPatience) { $0.keyPackage.isAnswered }
        }
        let announcement = self.state.keyPackage.explained(by: self.state.relays)
        guard announcement.isStored, let event = announcement.event else {
            throw DaemonFailure(.publishFailed, announcement.failure)
        }
        return Done(result: announcement.json, after: [.keyPackagePublished(event)])
    }

    private func setRelays(_ texts: [String]) async throws(DaemonFailure) -> Done {
        var relays: [RelayURL] = []
        for text in texts.map({ $0.filter { !$0.isWhitespace } }) where !text.isEmpty {
            do {
                let relay = try RelayURL(text)
                if !relays.contains(relay) { relays.append(relay) }
            } catch { throw DaemonFailure(.badRelays, "parse relay url: \(text): \(error.message)") }
        }
        // With an empty list the pikachat daemon falls back to its first relay.
        if texts.isEmpty { relays = Array(self.settings.core.relays.prefix(1)) }
        guard !relays.isEmpty else { throw DaemonFailure(.badRelays, "relays list is empty") }
        if relays != self.settings.core.relays {
            var configuration = self.settings.core
            configuration.relays = relays
            switch await self.outcome(of: .reloadConfiguration(configuration)) {
            case .failed(let error): throw DaemonFailure(.badRelays, error.message)
            case nil: throw DaemonFailure(.runtimeError, "the core does not answer")
            case .done, .partlyDone, .found, .queued: self.settings.core = configuration
            }
        }
        return Done(result: ["relays": .array(relays.map { .string($0.string) })])
    }

    // MARK: Invitations

    private func listWelcomes() -> Done {
        let invites = self.state.invites.filter { self.settings.admits($0.inviter) }
        return Done(result: ["welcomes": .array(invites.map { .object(DaemonWelcome($0).fields()) })])
    }

    private static let welcomeHint = "use wrapper_event_id or welcome_event_id from list_pending_welcomes"

    private func acceptWelcome(_ text: String, key: String?) async throws(DaemonFailure) -> Done {
        let id = try self.eventID(text, "wrapper_event_id must be hex; \(Self.welcomeHint)")
        let invite = self.state.invites.first {
            ($0.wrapper == id || $0.welcome == id) && self.settings.admits($0.inviter)
        }
        // A retry: an invitation accepted under this key before is no longer pending.
        guard let wrapper = invite?.wrapper ?? (key == nil ? nil : id) else {
            throw DaemonFailure(.notFound, "pending welcome not found; \(Self.welcomeHint)")
        }
        self.isAccepting = true
        let outcome = await self.outcome(of: .acceptInvite(wrapper: wrapper), key: key)
        if case .done(let chatID?) = outcome, let done = await self.joined(chatID) { return done }
        await self.tellHeldJoins(but: nil)
        switch outcome {
        case .failed(let error) where error.code == .unknownInvite:
            throw DaemonFailure(.notFound, "pending welcome not found; \(Self.welcomeHint)")
        case .failed(let error): throw DaemonFailure(.mdkError, error.message)
        case nil: throw DaemonFailure(.mdkError, "the core does not answer")
        default: throw DaemonFailure(.mdkError, "this account is not in the group any more")
        }
    }

    /// Returns the result of a join, after the group's earlier messages were sent to clients; nil if the account is no
    /// longer in the group.
    private func joined(_ chatID: String) async -> Done? {
        _ = await self.wait(15_000) { !$0.readingChats.contains(chatID) }
        _ = await self.waitUntilTold()
        guard let group = self.groupIfThere(chatID) else { return nil }
        let joins = self.heldJoins.filter { $0.chatID == chatID }
        await self.tellHeldJoins(but: chatID)
        self.joinsToComplete += joins
        return Done(
            result: ["nostr_group_id": .string(group.nostrGroupID), "mls_group_id": .string(group.chatID)],
            after: [.groupJoined(group)])
    }

    private func tellHeldJoins(but chatID: String?) async {
        let joins = self.heldJoins.filter { $0.chatID != chatID }
        self.heldJoins = []
        self.isAccepting = false
        for join in joins { await self.tellJoin(join) }
    }

    /// Accepts an invitation as if standard input had asked for it.
    func acceptUnasked(_ wrapper: EventID) async {
        let request = DaemonRequest(
            command: .acceptWelcome(id: wrapper.hex), name: "accept_welcome", requestID: "auto-accept",
            idempotencyKey: nil, fingerprintText: "")
        await self.inTurn { await self.obey(request, of: self.standard) }
    }

    // MARK: Messages

    private func messages(of chatID: String, _ limit: Int) async throws(DaemonFailure) -> Done {
        guard (1...10_000).contains(limit) else {
            throw DaemonFailure(.mdkError, "limit must be between 1 and 10000, not \(limit)")
        }
        let chatID = try self.chat(chatID)?.chatID ?? chatID.lowercased()
        let messages: [StoredMessage]
        do { messages = try await self.core.messages(chatID: chatID, limit: limit) } catch {
            throw DaemonFailure(.mdkError, (error as? AppCoreError)?.message ?? "the messages cannot be read")
        }
        let list = messages.map { message -> JSONValue in
            [
                "message_id": .string(message.id.hex), "from_pubkey": .string(message.rumor.pubkey.hex),
                "content": .string(message.rumor.content), "created_at": .integer(message.rumor.createdAt),
            ]
        }
        return Done(result: ["messages": .array(list)])
    }
}
