package import Nostr
package import PikaCore

/// A message from another member.
package struct DaemonMessage: Hashable, Sendable {
    /// The id of the chat.
    package var chatID: ChatID
    /// ``AppState/ChatSummary/nostrGroupID``.
    package var nostrGroupID: String
    /// The inner event's id.
    package var id: EventID
    package var sender: PublicKey
    package var kind: Kind
    package var content: String
    package var createdAt: UnixTime
    package var media: [Attachment]
    /// Sent only to clients of the extension.
    package var tags: [Tag] = []

    package struct Attachment: Hashable, Sendable {
        package var file: MediaAttachment
        /// Path of the file, if it was downloaded.
        package var localPath: String?

        var json: JSONValue {
            var object: JSONObject = [
                "url": .string(self.file.url), "mime_type": .string(self.file.type),
                "filename": .string(self.file.filename), "original_hash_hex": .string(self.file.hash.hex),
                "nonce_hex": .string(Hex.encode(self.file.nonce)),
                "scheme_version": .string(self.file.version),
            ]
            object["width"] = self.file.width.map { .integer(Int64($0)) }
            object["height"] = self.file.height.map { .integer(Int64($0)) }
            object["local_path"] = self.localPath.map(JSONValue.string)
            return .object(object)
        }
    }

    var json: JSONObject {
        var object: JSONObject = [
            "type": "message_received", "nostr_group_id": .string(self.nostrGroupID),
            "from_pubkey": .string(self.sender.hex), "content": .string(self.content),
            "kind": .integer(Int64(self.kind.rawValue)), "created_at": .integer(self.createdAt.seconds),
            "event_id": .string(self.id.hex), "message_id": .string(self.id.hex),
        ]
        if !self.media.isEmpty { object["media"] = .array(self.media.map(\.json)) }
        return object
    }
}
