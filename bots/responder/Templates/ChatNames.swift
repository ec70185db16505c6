import BotKit

/// The names of chats and people in the snapshot.
struct ChatNames: Sendable {
    let snapshot: AppState
    let accountName: String

    func summary(of chatID: ChatID?) -> AppState.ChatSummary? {
        chatID.flatMap { try? snapshot.chat(named: $0.rawValue) }
    }

    func chat(_ chatID: ChatID) -> String {
        let name = summary(of: chatID)?.name ?? ""
        return name.isEmpty ? "this chat" : name
    }

    /// Returns a person's own display name, or the start of their npub.
    func name(of key: PublicKey, in chatID: ChatID?) -> String {
        let known = summary(of: chatID)?.allMembers.first { $0.publicKey == key }?.name ?? ""
        return known.isEmpty ? String(key.npub.prefix(12)) : known
    }

    func person(_ key: PublicKey, in chatID: ChatID?) -> JSONValue {
        ["npub": .string(key.npub), "name": .string(name(of: key, in: chatID))]
    }

    func chatDocument(_ chatID: ChatID) -> JSONValue {
        let summary = summary(of: chatID)
        return [
            "id": .string(chatID.rawValue), "name": .string(summary?.name ?? ""),
            "group": .bool(summary?.isGroup ?? true), "members": .integer(Int64(summary?.allMembers.count ?? 0)),
        ]
    }
}
