public import Nostr

extension AppState {
    public struct Member: Sendable, Hashable {
        public let publicKey: PublicKey
        /// What the member calls itself; nil if it is not known.
        public let name: String?
        public let isAdmin: Bool

        init(publicKey: PublicKey, name: String? = nil, isAdmin: Bool) {
            self.publicKey = publicKey
            self.name = name
            self.isAdmin = isAdmin
        }
    }

    public struct ChatSummary: Sendable, Hashable {
        /// Hex of the nostrGroupID.
        public internal(set) var chatID: String
        /// Hex of the MLS group id, which never changes.
        public internal(set) var groupID: String
        public internal(set) var name: String
        public internal(set) var description: String
        /// Where the group's events are published.
        public internal(set) var relays: [RelayURL]
        public internal(set) var isGroup: Bool
        public internal(set) var members: [Member]
        public internal(set) var isAdmin: Bool
        public internal(set) var epoch: UInt64
        /// False once this account was removed.
        public internal(set) var isActive: Bool
        public internal(set) var lastMessage: String?
        public internal(set) var lastMessageAt: Int64?
        /// Unix seconds at which ``lastMessage`` ends; nil if it stays.
        public internal(set) var lastMessageExpiresAt: Int64?
        public internal(set) var unreadCount: Int
        /// Changes with the group's picture; nil if it has none. ``AppCore/groupImage(chatID:servers:)`` downloads it.
        public internal(set) var imageHash: String?
        /// Another copy of this account has changed the keys: nothing can be sent until somebody invites this one.
        public internal(set) var needsInvitation = false
    }

    public enum Delivery: Sendable, Hashable {
        case received
        case pending
        case sent
        case failed(String)
    }

    public struct ChatMessage: Sendable, Hashable {
        public let id: EventID
        public let sender: PublicKey
        /// What the sender calls itself, else the beginning of its npub.
        public internal(set) var senderName: String
        public let isOwn: Bool
        public let kind: Kind
        public let content: String
        public let createdAt: Int64
        /// Unix seconds at which it ends; nil if it stays.
        public let expiresAt: Int64?
        /// The message that this one answers.
        public let replyTo: EventID?
        public let media: [MediaAttachment]
        public internal(set) var reactions: [Reaction]
        /// Nil unless ``kind`` is that of a hypernote.
        public internal(set) var hypernote: HypernoteView?
        public internal(set) var delivery: Delivery
    }

    public struct Reaction: Sendable, Hashable {
        public let sender: PublicKey
        public let emoji: String
    }

    public struct ChatView: Sendable, Hashable {
        public internal(set) var chatID: String
        /// Oldest first.
        public internal(set) var messages: [ChatMessage]
        public internal(set) var canLoadOlder: Bool
        /// Other members who are typing, in the order of the members.
        public internal(set) var typing: [Member] = []
    }
}
