import ArgumentParser
import BotProgram
import BotRuntime
import Foundation
import Nostr
import PikaCore

extension Pikabot {
    struct Send: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a message, or a file with a caption, to a group or a peer.",
            discussion: """
                With --to the message goes to the chat with that peer, which is created if necessary. A file is encrypted \
                before it is uploaded to the first media server that accepts it.
                """)

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: TargetOptions

        @Option(help: "The text, or the caption of the file.") var content = ""
        @Option(help: "A file to send.") var media: String?
        @Option(help: "The media type, such as image/png. (default: from the file extension)") var mimeType: String?
        @Option(help: "The file name shown to recipients. (default: the file's own name)") var filename: String?
        @Option(name: .customLong("blossom"), help: "Media server, http or https; may be repeated.")
        var mediaServers: [MediaServerArgument] = []

        func validate() throws {
            guard media != nil || !content.isEmpty else {
                throw ValidationError("--content is missing; --media <file> sends a file")
            }
            guard media != nil || (mimeType == nil && filename == nil && mediaServers.isEmpty) else {
                throw ValidationError("--mime-type, --filename and --blossom need --media")
            }
        }

        func remoteRequest() throws -> JSONObject {
            let group = try target.remoteGroup()
            guard let media else {
                return ["cmd": "send_message", "nostr_group_id": group, "content": .string(content)]
            }
            var request: JSONObject = [
                "cmd": "send_media", "nostr_group_id": group,
                // Absolute, because the daemon has another working directory.
                "file_path": .string(URL(fileURLWithPath: media).path), "caption": .string(content),
            ]
            if let mimeType { request["mime_type"] = .string(mimeType) }
            if let filename { request["filename"] = .string(filename) }
            request["blossom_servers"] = .array(mediaServers.map { .string($0.url.description) })
            return request
        }

        func perform() async throws -> JSONValue {
            let file = try media.map { try LocalFile(path: $0, filename: filename, mediaType: mimeType) }
            return try await withClient(options) { client in
                try await client.catchUp(needed: true)
                let (chatID, isNew) = try await client.chat(target)
                let sent = try await client.send(action(file, chatID))
                await client.settle()
                var result: JSONObject = [
                    "event_id": .string(sent.wrapper.hex),
                    "nostr_group_id": .string(try await client.chat(chatID).nostrGroupID),
                ]
                if isNew { result["auto_created_group"] = true }
                if let file {
                    result["media"] = try await client.uploaded(file, chatID: chatID, messageID: sent.messageID)
                }
                return .object(result)
            }
        }

        private func action(_ file: LocalFile?, _ chatID: ChatID) -> AppAction {
            guard let file else { return .sendMessage(chatID: chatID, .text(content)) }
            Console.progress("encrypting and uploading \(file.filename) (\(file.bytes.count) bytes)…")
            return .sendMedia(
                chatID: chatID,
                OutgoingMedia(files: [file.outgoing], caption: content, servers: mediaServers.map(\.url)))
        }
    }
}

/// The address of a media server on the command line.
struct MediaServerArgument: ExpressibleByArgument {
    let url: MediaURL

    init?(argument: String) {
        guard let url = try? MediaURL(argument) else { return nil }
        self.url = url
    }
}

extension Client {
    /// Returns the upload of a message that was just sent.
    fileprivate func uploaded(_ file: LocalFile, chatID: ChatID, messageID: EventID) async throws -> JSONValue {
        let attachment = try await account.core.attachments(chatID: chatID, messageID: messageID).first
        guard let attachment, let upload = account.media.uploads.last(where: { $0.url == attachment.url }) else {
            throw CommandError("the message was sent without its file")
        }
        return [
            "blossom_server": .string(upload.server.description), "uploaded_url": .string(upload.url),
            "original_hash_hex": .string(attachment.hash.hex), "encrypted_hash_hex": .string(upload.hash.hex),
            "descriptor_sha256_hex": .string(upload.hash.hex), "mime_type": .string(attachment.type),
            "filename": .string(attachment.filename), "bytes": .integer(Int64(file.bytes.count)),
        ]
    }
}
