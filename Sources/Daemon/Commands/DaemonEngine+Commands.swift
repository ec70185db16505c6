import Nostr
import PikaCore

/// Commands about the account, its invitations and its messages.
extension DaemonEngine {
    /// - Parameter key: the command's idempotency key. Requests to the core under the same key are performed once.
    func perform(
        _ command: DaemonCommand, key: String?, _ client: DaemonClient
    ) async throws(DaemonFailure) -> CommandResult {
        switch command {
        case .hello(let hello): return try self.hello(hello, client)
        case .acknowledge(let cursor): return try await self.acknowledge(cursor, client)
        case .shutdown: return CommandResult()
        case .publishKeyPackage(let relays): return try await self.publishKeyPackage(relays)
        case .setRelays(let relays): return try await self.setRelays(relays)
        case .listPendingWelcomes:
            let welcomes = self.machine.admittedInvites.map { JSONValue.object(DaemonWelcome($0).fields()) }
            return CommandResult(result: ["welcomes": .array(welcomes)])
        case .acceptWelcome(let id): return try await self.acceptWelcome(id, key: key)
        case .listGroups:
            let groups = self.machine.state.chatList.filter(\.isActive)
            return CommandResult(result: ["groups": .array(groups.map { .object(DaemonGroup($0).json) })])
        case .listMembers(let chatID): return CommandResult.members(of: try self.machine.group(chatID))
        case .getMessages(let chatID, let limit): return try await self.messages(of: chatID, limit)
        case .hypernoteCatalog: return CommandResult(result: ["catalog": HypernoteCatalog.json])
        case .initGroup, .addMembers, .removeMembers, .leaveGroup, .updateGroupProfile, .getGroupProfile,
            .uploadGroupProfileImage:
            return try await self.perform(group: command, key: key)
        case .sendMessage, .sendHypernote, .react, .submitHypernoteAction, .sendMedia, .sendMediaBatch, .sendTyping:
            return try await self.perform(message: command, key: key)
        case .inviteCall, .acceptCall, .rejectCall, .endCall, .sendAudioResponse, .sendAudioFile, .sendCallData:
            return try await self.perform(call: command, key: key)
        }
    }

    // MARK: Account

    private func publishKeyPackage(_ relays: [String]) async throws(DaemonFailure) -> CommandResult {
        if !relays.isEmpty { _ = try await self.setRelays(relays) }
        try self.machine.requireRelays()
        switch await self.outcome(of: .publishKeyPackage) {
        case .failed(let error): throw DaemonFailure(.mdkError, error.message)
        case nil: throw DaemonFailure.coreTimeout
        case .done, .partlyDone, .found, .queued: break
        }
        let settings = self.machine.settings
        _ = await self.wait(settings.commandPatience) { $0.keyPackage.isStored || $0.keyPackage.isRefused }
        if self.machine.state.keyPackage.isStored {
            _ = await self.wait(settings.otherRelaysPatience) { $0.keyPackage.isAnswered }
        }
        let announcement = self.machine.state.keyPackage.explained(by: self.machine.state.relays)
        guard announcement.isStored, let event = announcement.event else {
            throw DaemonFailure(.publishFailed, announcement.failure)
        }
        return CommandResult(result: announcement.json, after: [.keyPackagePublished(event)])
    }

    private func setRelays(_ texts: [String]) async throws(DaemonFailure) -> CommandResult {
        var configuration = self.machine.settings.core
        // With an empty list the pikachat daemon falls back to its first relay.
        let relays =
            texts.isEmpty ? Array(configuration.relays.prefix(1)) : try CommandArguments.relays(texts)
        guard !relays.isEmpty else { throw DaemonFailure(.badRelays, "relays list is empty") }
        if relays != configuration.relays {
            configuration.relays = relays
            switch await self.outcome(of: .reloadConfiguration(configuration)) {
            case .failed(let error): throw DaemonFailure(.badRelays, error.message)
            case nil: throw DaemonFailure.coreTimeout
            case .done, .partlyDone, .found, .queued: self.machine.apply(configuration)
            }
        }
        return CommandResult(result: ["relays": .array(relays.map { .string($0.string) })])
    }

    // MARK: Invitations

    private static let welcomeHint = "use wrapper_event_id or welcome_event_id from list_pending_welcomes"

    private func acceptWelcome(_ text: String, key: String?) async throws(DaemonFailure) -> CommandResult {
        let id = try CommandArguments.eventID(text, "wrapper_event_id must be hex; \(Self.welcomeHint)")
        let invite = self.machine.admittedInvites.first { $0.wrapper == id || $0.welcome == id }
        // A retry: an invitation accepted under this key before is no longer pending.
        guard let wrapper = invite?.wrapper ?? (key == nil ? nil : id) else {
            throw DaemonFailure(.notFound, "pending welcome not found; \(Self.welcomeHint)")
        }
        self.machine.memberships.beginAccepting()
        let outcome = await self.outcome(of: .acceptInvite(wrapper: wrapper), key: key)
        if case .done(let chatID?) = outcome, let result = await self.joined(chatID) { return result }
        await self.announceHeldJoins(except: nil)
        switch outcome {
        case .failed(let error) where error.code == .unknownInvite:
            throw DaemonFailure(.notFound, "pending welcome not found; \(Self.welcomeHint)")
        case .failed(let error): throw DaemonFailure(.mdkError, error.message)
        case nil: throw DaemonFailure(.mdkError, DaemonFailure.coreTimeout.message)
        default: throw DaemonFailure(.mdkError, "this account is no longer a member of the group")
        }
    }

    /// Returns the result of a join, after the group's earlier messages were sent to clients; nil if the account is no
    /// longer in the group.
    private func joined(_ chatID: String) async -> CommandResult? {
        _ = await self.wait(15_000) { !$0.readingChats.contains(chatID) }
        _ = await self.waitUntilDelivered()
        guard let group = self.machine.groupIfKnown(chatID) else { return nil }
        await self.announceHeldJoins(except: chatID)
        return CommandResult(
            result: ["nostr_group_id": .string(group.nostrGroupID), "mls_group_id": .string(group.chatID)],
            after: [.groupJoined(group)])
    }

    private func announceHeldJoins(except chatID: String?) async {
        for join in self.machine.memberships.endAccepting(announcing: chatID) { await self.announceJoin(join) }
    }

    /// Accepts an invitation as if standard input had asked for it.
    func autoAccept(_ wrapper: EventID) async {
        let request = DaemonRequest(
            command: .acceptWelcome(id: wrapper.hex), name: "accept_welcome", requestID: "auto-accept",
            idempotencyKey: nil, fingerprintText: "")
        await self.afterCommands { await self.execute(request, of: self.standard) }
    }

    // MARK: Messages

    private func messages(of chatID: String, _ limit: Int) async throws(DaemonFailure) -> CommandResult {
        guard (1...10_000).contains(limit) else {
            throw DaemonFailure(.mdkError, "limit must be between 1 and 10000, not \(limit)")
        }
        let chatID = try self.machine.chat(chatID)?.chatID ?? chatID.lowercased()
        do { return CommandResult.messages(try await self.core.messages(chatID: chatID, limit: limit)) } catch {
            throw DaemonFailure(.mdkError, (error as? AppCoreError)?.message ?? "cannot read the messages")
        }
    }
}
