import Foundation
import Nostr
import PikaCore

/// Commands that send to a group.
extension DaemonEngine {
    func send(_ command: DaemonCommand, key: String?) async throws(DaemonFailure) -> Done {
        switch command {
        case .sendMessage(let chatID, let content):
            let chatID = try self.group(chatID).chatID
            let sent = try await self.send(.sendMessage(chatID: chatID, .text(content)), key: key)
            return Done(result: ["event_id": .string(sent.messageID.hex)])
        case .sendHypernote(let chatID, let content, let title, let state):
            let chatID = try self.group(chatID).chatID
            let note = Hypernote(content: content, title: title, state: state)
            let sent = try await self.send(.sendHypernote(chatID: chatID, note), key: key)
            return Done(result: ["event_id": .string(sent.messageID.hex)])
        case .react(let chatID, let target, let emoji):
            let target = try self.eventID(target)
            let emoji = emoji.trimmed
            guard !emoji.isEmpty else { throw DaemonFailure(.badEmoji, "emoji is required") }
            let chatID = try self.group(chatID).chatID
            let sent = try await self.send(
                .reactToMessage(chatID: chatID, messageID: target, emoji: emoji), key: key)
            return Done(result: ["event_id": .string(sent.wrapper.hex)])
        case .submitHypernoteAction(let chatID, let target, let action, let form):
            let target = try self.eventID(target)
            let action = action.trimmed
            guard !action.isEmpty else { throw DaemonFailure(.badAction, "action is required") }
            let chatID = try self.group(chatID).chatID
            let sent = try await self.send(
                .hypernoteAction(chatID: chatID, hypernote: target, action: action, form: form), key: key)
            return Done(result: ["event_id": .string(sent.wrapper.hex)])
        case .sendMedia(let chatID, let file, let caption, let servers):
            return try await self.sendMedia(chatID, [file], caption, servers, isBatch: false, key: key)
        case .sendMediaBatch(let chatID, let paths, let caption, let servers):
            let files = paths.map { DaemonCommand.File(path: $0, mimeType: nil, filename: nil) }
            return try await self.sendMedia(chatID, files, caption, servers, isBatch: true, key: key)
        case .sendTyping(let chatID): return try await self.sendTyping(try self.group(chatID).chatID)
        default: return Done()
        }
    }

    /// Enqueues a message and waits until a relay has accepted it.
    private func send(
        _ action: AppAction, key: String?, within milliseconds: Int64? = nil
    ) async throws(DaemonFailure) -> (messageID: EventID, wrapper: EventID) {
        switch await self.outcome(of: action, key: key, within: milliseconds) {
        case .queued(let messageID, let wrapper):
            if self.settings.waitsForRelays { try await self.waitForDelivery(of: messageID) }
            return (messageID, wrapper)
        case .failed(let error):
            let code: DaemonFailure.Code =
                switch error.code {
                case .unknownChat: .badGroupID
                case .noMediaServer, .mediaFailed, .badAddress: .uploadFailed
                default: .publishFailed
                }
            throw DaemonFailure(code, error.message)
        case nil: throw DaemonFailure(.publishFailed, "the message could not be made ready in time")
        case .done, .partlyDone, .found: throw DaemonFailure(.publishFailed, "unexpected outbound publish result")
        }
    }

    func waitForDelivery(of messageID: EventID) async throws(DaemonFailure) {
        let answer = self.deliveries.answer(of: messageID)
        switch await answer.wait(self.settings.commandPatience, self.clock) {
        case .sent, .received: return
        case .failed(let reason): throw DaemonFailure(.publishFailed, reason)
        case .pending, nil:
            throw DaemonFailure(.publishFailed, "no relay has taken the message in time; it stays queued")
        }
    }

    private func sendTyping(_ chatID: String) async throws(DaemonFailure) -> Done {
        switch await self.outcome(of: .typingStarted(chatID: chatID)) {
        case .failed(let error): throw DaemonFailure(.mdkError, error.message)
        case nil: throw DaemonFailure(.publishFailed, "no relay has answered in time")
        case .done, .partlyDone, .found, .queued: return Done(repliesToStandard: true)
        }
    }

    // MARK: Files

    private func sendMedia(
        _ text: String, _ sources: [DaemonCommand.File], _ caption: String, _ servers: [String], isBatch: Bool,
        key: String?
    ) async throws(DaemonFailure) -> Done {
        let chatID = try self.group(text).chatID
        guard !sources.isEmpty else { throw DaemonFailure(.fileError, "no file paths provided") }
        guard sources.count <= MediaAttachment.maximumCount else {
            throw DaemonFailure(.fileError, "too many files (max \(MediaAttachment.maximumCount))")
        }
        var addresses: [MediaURL] = []
        for server in servers where !server.trimmed.isEmpty {
            do { addresses.append(try MediaURL(server.trimmed)) } catch {
                throw DaemonFailure(.uploadFailed, error.message)
            }
        }
        let files = try self.read(sources)
        let media = OutgoingMedia(files: files, caption: caption, servers: addresses)
        let sent = try await self.send(
            .sendMedia(chatID: chatID, media), key: key, within: self.settings.mediaPatience)
        let message = await self.ownMessage(sent.messageID, in: chatID)
        let attachments = message?.media ?? []
        let urls = attachments.map { JSONValue.string($0.url) }
        let hashes = attachments.map { JSONValue.string($0.hash.hex) }
        var result: JSONObject = ["event_id": .string(sent.wrapper.hex)]
        if isBatch {
            result["uploaded_urls"] = .array(urls)
            result["original_hashes"] = .array(hashes)
        } else {
            result["uploaded_url"] = urls.first
            result["original_hash_hex"] = hashes.first
        }
        return Done(result: result)
    }

    /// Returns a message that was just sent; searches the newest messages.
    private func ownMessage(_ id: EventID, in chatID: String) async -> StoredMessage? {
        try? await self.core.messages(chatID: chatID, limit: 200).first { $0.id == id }
    }

    private func read(_ sources: [DaemonCommand.File]) throws(DaemonFailure) -> [OutgoingFile] {
        var files: [OutgoingFile] = []
        for source in sources {
            let bytes: [UInt8]
            do { bytes = try RegularFile.read(source.path) } catch {
                throw DaemonFailure(.fileError, "read \(source.path): \(error)")
            }
            guard !bytes.isEmpty else { throw DaemonFailure(.fileError, "file is empty: \(source.path)") }
            let name = source.filename?.trimmed ?? ""
            let filename = name.isEmpty ? URL(fileURLWithPath: source.path).lastPathComponent : name
            let type = source.mimeType?.trimmed ?? ""
            files.append(
                OutgoingFile(
                    bytes: bytes, filename: filename,
                    mediaType: type.isEmpty ? Self.mediaType(of: filename) : type))
        }
        return files
    }

    /// Returns the media type by the file name's extension, as the apps guess it.
    private static func mediaType(of filename: String) -> String {
        switch URL(fileURLWithPath: filename).pathExtension.lowercased() {
        case "jpg", "jpeg": "image/jpeg"
        case "png": "image/png"
        case "gif": "image/gif"
        case "webp": "image/webp"
        case "heic": "image/heic"
        case "mp4", "m4v": "video/mp4"
        case "mov": "video/quicktime"
        case "webm": "video/webm"
        case "mp3": "audio/mpeg"
        case "m4a": "audio/mp4"
        case "ogg": "audio/ogg"
        case "wav": "audio/wav"
        case "pdf": "application/pdf"
        case "txt", "md": "text/plain"
        default: "application/octet-stream"
        }
    }
}
