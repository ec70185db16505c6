import Nostr
import PikaCore

/// Commands that send to a group.
extension DaemonEngine {
    func perform(message command: DaemonCommand, key: String?) async throws(DaemonFailure) -> CommandResult {
        switch command {
        case .sendMessage(let chatID, let content):
            let chatID = try self.machine.group(chatID).chatID
            return .sent(try await self.send(.sendMessage(chatID: chatID, .text(content)), key: key).messageID)
        case .sendHypernote(let chatID, let content, let title, let state):
            let chatID = try self.machine.group(chatID).chatID
            let note = Hypernote(content: content, title: title, state: state)
            return .sent(try await self.send(.sendHypernote(chatID: chatID, note), key: key).messageID)
        case .react(let chatID, let target, let emoji):
            let target = try CommandArguments.eventID(target)
            let emoji = emoji.trimmed
            guard !emoji.isEmpty else { throw DaemonFailure(.badEmoji, "emoji is required") }
            let chatID = try self.machine.group(chatID).chatID
            let action = AppAction.reactToMessage(chatID: chatID, messageID: target, emoji: emoji)
            return .sent(try await self.send(action, key: key).wrapper)
        case .submitHypernoteAction(let chatID, let target, let name, let form):
            let target = try CommandArguments.eventID(target)
            let name = name.trimmed
            guard !name.isEmpty else { throw DaemonFailure(.badAction, "action is required") }
            let chatID = try self.machine.group(chatID).chatID
            let action = AppAction.hypernoteAction(chatID: chatID, hypernote: target, action: name, form: form)
            return .sent(try await self.send(action, key: key).wrapper)
        case .sendMedia(let chatID, let file, let caption, let servers):
            return try await self.sendMedia(chatID, [file], caption, servers, isBatch: false, key: key)
        case .sendMediaBatch(let chatID, let paths, let caption, let servers):
            let files = paths.map { DaemonCommand.File(path: $0, mimeType: nil, filename: nil) }
            return try await self.sendMedia(chatID, files, caption, servers, isBatch: true, key: key)
        case .sendTyping(let chatID): return try await self.sendTyping(try self.machine.group(chatID).chatID)
        default: return CommandResult()
        }
    }

    /// Enqueues a message and waits until a relay has accepted it.
    private func send(
        _ action: AppAction, key: String?, within milliseconds: Int64? = nil
    ) async throws(DaemonFailure) -> (messageID: EventID, wrapper: EventID) {
        switch await self.outcome(of: action, key: key, within: milliseconds) {
        case .queued(let messageID, let wrapper):
            if self.machine.settings.waitsForRelays { try await self.waitForDelivery(of: messageID) }
            return (messageID, wrapper)
        case .failed(let error): throw DaemonFailure.message(error)
        case nil: throw DaemonFailure(.publishFailed, "the core did not prepare the message in time")
        case .done, .partlyDone, .found: throw DaemonFailure(.publishFailed, "unexpected outbound publish result")
        }
    }

    private func sendTyping(_ chatID: String) async throws(DaemonFailure) -> CommandResult {
        switch await self.outcome(of: .typingStarted(chatID: chatID)) {
        case .failed(let error): throw DaemonFailure(.mdkError, error.message)
        case nil: throw DaemonFailure(.publishFailed, "no relay answered in time")
        case .done, .partlyDone, .found, .queued: return CommandResult(repliesToStandard: true)
        }
    }

    // MARK: Files

    private func sendMedia(
        _ text: String, _ sources: [DaemonCommand.File], _ caption: String, _ servers: [String], isBatch: Bool,
        key: String?
    ) async throws(DaemonFailure) -> CommandResult {
        let chatID = try self.machine.group(text).chatID
        try CommandArguments.files(sources)
        let servers = try CommandArguments.mediaServers(servers)
        var files: [OutgoingFile] = []
        for source in sources { files.append(try self.read(source)) }
        let media = OutgoingMedia(files: files, caption: caption, servers: servers)
        let sent = try await self.send(
            .sendMedia(chatID: chatID, media), key: key, within: self.machine.settings.mediaPatience)
        let message = await self.ownMessage(sent.messageID, in: chatID)
        return .media(message?.media ?? [], wrapper: sent.wrapper, isBatch: isBatch)
    }

    /// Returns a message that was just sent; searches the newest messages.
    private func ownMessage(_ id: EventID, in chatID: String) async -> StoredMessage? {
        try? await self.core.messages(chatID: chatID, limit: 200).first { $0.id == id }
    }

    private func read(_ source: DaemonCommand.File) throws(DaemonFailure) -> OutgoingFile {
        let bytes: [UInt8]
        do { bytes = try RegularFile.read(source.path) } catch {
            throw DaemonFailure(.fileError, "read \(source.path): \(error)")
        }
        return try CommandArguments.file(source, bytes)
    }
}
