import MLS
import Nostr

/// The chat list's data about a chat that its MLS group does not contain; stored as a memo, to survive restarts.
struct ChatRecord: Sendable, Hashable {
    var lastMessage: String?
    var lastMessageAt: UnixTime?
    var lastMessageExpiresAt: UnixTime?
    var unreadCount = 0
    var firstUnread: EventID?
    var isArchived = false
    /// The reason why this account is no longer a member.
    var end: AppState.ChatEnd?
    /// The times of this account's messages.
    var times = OwnMessageTimes()
}

/// The stored form: JSON, version 1.
extension ChatRecord {
    var memo: Secret {
        var fields: JSONObject = ["v": 1, "unread": .integer(Int64(self.unreadCount))]
        if let lastMessage { fields["last"] = .string(lastMessage) }
        if let lastMessageAt { fields["at"] = .integer(lastMessageAt.seconds) }
        if let lastMessageExpiresAt { fields["expires"] = .integer(lastMessageExpiresAt.seconds) }
        if let firstUnread { fields["first_unread"] = .string(firstUnread.hex) }
        if self.isArchived { fields["archived"] = true }
        if let last = self.times.last { fields["own_at"] = .integer(last.seconds) }
        if let sealed = self.times.sealed { fields["own_sealed"] = .integer(sealed.seconds) }
        switch self.end {
        case .removed(let admin):
            fields["end"] = "removed"
            if let admin { fields["by"] = .string(admin.hex) }
        case .left: fields["end"] = "left"
        case .overtaken, nil: break
        }
        return Secret(JSONValue.object(fields).json())
    }

    /// Parses a memo; nil if it is malformed.
    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo),
            let unread = json["unread"]?.integer, unread >= 0
        else { return nil }
        self.unreadCount = Int(unread)
        self.lastMessage = json["last"]?.string
        self.lastMessageAt = json["at"]?.integer.map(UnixTime.init(_:))
        self.lastMessageExpiresAt = json["expires"]?.integer.map(UnixTime.init(_:))
        self.isArchived = json["archived"]?.bool ?? false
        self.times = OwnMessageTimes(
            last: json["own_at"]?.integer.map(UnixTime.init(_:)),
            sealed: json["own_sealed"]?.integer.map(UnixTime.init(_:)))
        if let id = json["first_unread"]?.string {
            guard let id = try? EventID(hex: id) else { return nil }
            self.firstUnread = id
        }
        switch json["end"]?.string {
        case "removed": self.end = .removed(by: json["by"]?.string.flatMap { try? PublicKey(hex: $0) })
        case "left": self.end = .left
        case nil: break
        default: return nil
        }
    }
}

/// A message of this account that is no longer being sent, with the reason; stored as a memo.
struct FailedMessage: Sendable, Hashable {
    let groupID: GroupID
    let id: EventID
    let reason: String
    /// The time of the failure.
    let failedAt: UnixTime

    /// The maximum number of failed messages remembered; the oldest are dropped.
    static let maximumCount = 1000
}

extension FailedMessage {
    var memo: Secret {
        Secret(
            JSONValue.object([
                "v": 1, "group": .string(self.groupID.hex), "id": .string(self.id.hex),
                "reason": .string(self.reason), "at": .integer(self.failedAt.seconds),
            ]).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo),
            let group = json["group"]?.string.flatMap({ GroupID(hex: $0) }),
            let id = json["id"]?.string.flatMap({ try? EventID(hex: $0) }), let reason = json["reason"]?.string,
            let failedAt = json["at"]?.integer
        else { return nil }
        self.init(groupID: group, id: id, reason: reason, failedAt: UnixTime(failedAt))
    }
}
