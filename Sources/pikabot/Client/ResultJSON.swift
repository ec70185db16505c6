import Daemon
import Nostr
import PikaCore

/// JSON of the commands' results (docs/command-line.md); members are in the documented order.
enum ResultJSON {
    static func identity(_ key: PublicKey) -> JSONObject { ["pubkey": .string(key.hex), "npub": .string(key.npub)] }

    static func group(_ chat: AppState.ChatSummary) -> JSONValue {
        .object(
            GroupGenerationFields(chat).json(after: [
                "nostr_group_id": .string(chat.nostrGroupID), "mls_group_id": .string(chat.chatID.rawValue),
                "name": .string(chat.name), "description": .string(chat.description),
            ]))
    }

    static func groupIDs(_ chat: AppState.ChatSummary) -> JSONObject {
        ["nostr_group_id": .string(chat.nostrGroupID), "mls_group_id": .string(chat.chatID.rawValue)]
    }

    static func members(_ chat: AppState.ChatSummary) -> JSONObject { chat.membersJSON }

    /// The group after a change.
    static func groupWithMembers(_ chat: AppState.ChatSummary) -> JSONObject {
        var json = GroupGenerationFields(chat).json(after: [
            "nostr_group_id": .string(chat.nostrGroupID), "mls_group_id": .string(chat.chatID.rawValue),
            "name": .string(chat.name), "description": .string(chat.description),
            "member_count": .integer(Int64(chat.allMembers.count)),
        ])
        json["members"] = members(chat)["members"]
        json["relays"] = .array(chat.relays.map { .string($0.string) })
        return json
    }

    /// The peers that were left out of a group, with the reasons.
    static func leftOut(_ left: [PublicKey: InviteFailure]) -> JSONValue {
        .array(left.sorted { $0.key < $1.key }.map { $0.value.json(of: $0.key) })
    }

    static func welcome(_ invite: AppState.InviteSummary) -> JSONValue {
        [
            "wrapper_event_id": .string(invite.wrapper.hex), "welcome_event_id": .string(invite.welcome.hex),
            "from_pubkey": .string(invite.inviter.hex), "nostr_group_id": .string(invite.group?.nostrGroupID ?? ""),
            "group_name": .string(invite.group?.name ?? ""),
        ]
    }

    static func message(_ message: StoredMessage) -> JSONValue {
        [
            "message_id": .string(message.id.hex), "from_pubkey": .string(message.rumor.pubkey.hex),
            "content": .string(message.rumor.content), "created_at": .integer(message.rumor.createdAt.seconds),
            "media": media(message.rumor.tags),
        ]
    }

    static func media(_ tags: [Tag]) -> JSONValue { .array(MediaAttachment.all(in: tags).map(attachment)) }

    static func attachment(_ file: MediaAttachment) -> JSONValue {
        var json: JSONObject = [
            "url": .string(file.url), "mime_type": .string(file.type), "filename": .string(file.filename),
            "original_hash_hex": .string(file.hash.hex), "nonce_hex": .string(Hex.encode(file.nonce)),
            "scheme_version": .string(file.version),
        ]
        if let width = file.width, let height = file.height {
            json["width"] = .integer(Int64(width))
            json["height"] = .integer(Int64(height))
        }
        return .object(json)
    }

    static func listened(_ message: MessageEvent, in nostrGroupID: String) -> JSONValue {
        [
            "type": "message", "nostr_group_id": .string(nostrGroupID), "from_pubkey": .string(message.sender.hex),
            "content": .string(message.content), "created_at": .integer(message.createdAt.seconds),
            "message_id": .string(message.id.hex), "media": media(message.tags),
        ]
    }

    static func listened(_ withdrawn: WithdrawnEvent, in nostrGroupID: String) -> JSONValue {
        [
            "type": .string(withdrawn.isRestored ? "restored" : "withdrawn"), "nostr_group_id": .string(nostrGroupID),
            "from_pubkey": .string(withdrawn.sender.hex), "message_id": .string(withdrawn.id.hex),
        ]
    }

    static func listened(_ invite: AppState.InviteSummary) -> JSONValue {
        [
            "type": "welcome", "wrapper_event_id": .string(invite.wrapper.hex),
            "from_pubkey": .string(invite.inviter.hex), "nostr_group_id": .string(invite.group?.nostrGroupID ?? ""),
            "group_name": .string(invite.group?.name ?? ""),
        ]
    }
}

extension Kind {
    /// Whether people read it in a chat: text and hypernotes, but not reactions, signals and the like.
    var isReadable: Bool { self == .chatMessage || self == .hypernote }
}
