import BotRuntime
import Foundation
import Nostr
import PikaCore

extension ScriptedMember {
    /// Performs the commands about files and pictures.
    func performMedia(_ operation: MemberCommand.Operation) async throws -> JSONObject {
        switch operation {
        case .sendMedia(let group, let path, let filename, let type, let caption, let server):
            let file = OutgoingFile(bytes: try read(path), filename: filename, mediaType: type)
            let media = OutgoingMedia(
                files: [file], caption: caption, servers: try server.map { [try MediaURL($0)] } ?? [])
            let outcome = try await account.perform(.sendMedia(chatID: group, media))
            if case .queued(let messageID, _) = outcome { return ["message_id": .string(messageID.hex)] }
        case .downloadMedia(let group, let message, let index, let path):
            let bytes = try await account.core.media(chatID: group, messageID: message, index: index)
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return ["bytes": .integer(Int64(bytes.count))]
        case .setImage(let group, let path, let type):
            let image = try path.map { OutgoingImage(bytes: try read($0), mediaType: type) }
            _ = try await account.perform(.setGroupImage(chatID: group, image))
        case .downloadImage(let group, let path):
            guard let bytes = try await account.core.groupImage(chatID: group) else {
                throw AppCoreError(.unknownMedia, "the group has no picture")
            }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return ["bytes": .integer(Int64(bytes.count))]
        default: break
        }
        return [:]
    }

    private func read(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
