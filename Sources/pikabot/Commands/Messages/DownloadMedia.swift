import ArgumentParser
import BotProgram
import BotRuntime
import Foundation
import Nostr
import PikaCore

extension Pikabot {
    struct DownloadMedia: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "download-media", abstract: "Download and decrypt the file of a message.")

        @OptionGroup var options: ClientOptions

        @Argument(help: "The message's id, as `pikabot messages` shows it.") var messageID: String
        @Option(help: "The output file. (default: the file's own name, unless that exists)")
        var output: String?

        func validate() throws {
            guard (try? EventID(hex: messageID)) != nil else {
                throw ValidationError("\(messageID): expected a message id of 64 hex digits")
            }
        }

        func perform() async throws -> JSONValue {
            let id = try EventID(hex: messageID)
            return try await withClient(options) { client in
                var found = try await client.file(of: id)
                if found == nil {
                    try await client.catchUp()
                    found = try await client.file(of: id)
                }
                guard let (chatID, file) = found else {
                    throw CommandError("no message with the id \(messageID) has a file; `pikabot messages` lists them")
                }
                let path = try Self.place(for: file, output)
                Console.progress("downloading \(file.filename.printable)…")
                let bytes = try await client.account.core.media(chatID: chatID, messageID: id, index: file.index)
                try Self.write(bytes, to: path)
                return [
                    "message_id": .string(id.hex), "original_hash_hex": .string(file.hash.hex),
                    "mime_type": .string(file.type), "filename": .string(file.filename), "url": .string(file.url),
                    "output_path": .string(path), "bytes": .integer(Int64(bytes.count)),
                ]
            }
        }

        /// Returns the output path. The sender chose the file name, so an existing file must not be overwritten.
        private static func place(for file: MediaAttachment, _ output: String?) throws -> String {
            if let output { return output }
            let isName = !file.filename.hasPrefix(".") && file.filename == file.filename.printable
            guard isName, !FileManager.default.fileExists(atPath: file.filename) else {
                throw CommandError(
                    "the file name \(file.filename.printable) exists or cannot be used here; choose another with --output"
                )
            }
            return file.filename
        }

        private static func write(_ bytes: [UInt8], to path: String) throws {
            let url = URL(fileURLWithPath: path)
            do {
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(bytes).write(to: url, options: .atomic)
            } catch { throw CommandError("\(path): cannot be written: \(error.localizedDescription)") }
        }
    }
}

extension Client {
    /// Returns the first file of a message, and the message's chat.
    fileprivate func file(of messageID: EventID) async throws -> (chatID: ChatID, MediaAttachment)? {
        for chat in await account.core.state.chatList {
            let files = try await account.core.attachments(chatID: chat.chatID, messageID: messageID)
            if let file = files.first { return (chat.chatID, file) }
        }
        return nil
    }
}
