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
        /// Hex of the MLS group id, which never changes.
        public internal(set) var chatID: String
        /// Hex of the nostrGroupIDs that the group claims: the current one, then those that it had lately.
        public internal(set) var routingIDs: [String]
        /// As the group's data have it; ``displayName`` is what to show.
        public internal(set) var name: String
        public internal(set) var description: String
        /// Where the group's events are published.
        public internal(set) var relays: [RelayURL]
        /// Whether it is more than a 1:1 chat (wire §8.0).
        public internal(set) var isGroup: Bool
        /// Empty once this account is out of the group.
        public internal(set) var members: [Member]
        public internal(set) var isAdmin: Bool
        public internal(set) var epoch: UInt64
        /// False once this account was removed or has left: when a relay has its departure, not only when another
        /// member has executed it.
        public internal(set) var isActive: Bool
        /// The newest chat message or hypernote; nil if there is none, or it has ended.
        public internal(set) var lastMessage: String?
        /// Unix seconds: when it was written, or came in if its sender's clock is ahead.
        public internal(set) var lastMessageAt: Int64?
        /// Unix seconds at which ``lastMessage`` ends; nil if it stays.
        public internal(set) var lastMessageExpiresAt: Int64?
        /// Chat messages and hypernotes of others since the chat was open.
        public internal(set) var unreadCount: Int
        /// Changes with the group's picture; nil if it has none. ``AppCore/groupImage(chatID:servers:)`` downloads it.
        public internal(set) var imageHash: String?
        /// Another copy of this account has changed the keys: nothing can be sent until somebody invites this one.
        public internal(set) var needsInvitation = false
        /// Whether other groups claim the current nostrGroupID too: it does not name this chat then.
        public internal(set) var sharesNostrGroupID = false
        /// A group's name, or `Group (5)` if it has none; for a 1:1 chat what the peer calls itself, else the beginning
        /// of its npub.
        public internal(set) var displayName = ""
        /// `5 members` for a group; for a 1:1 chat the beginning of the peer's npub, nil if ``displayName`` is that.
        public internal(set) var subtitle: String?
        public internal(set) var isArchived = false
        /// The first message that ``unreadCount`` counts.
        public internal(set) var firstUnread: EventID?
        /// Why nothing can be sent; nil while this account is a member with its keys.
        public internal(set) var endReason: ChatEnd?
    }

    /// Why a chat is over for this account, until somebody invites it again.
    public enum ChatEnd: Sendable, Hashable {
        /// Nil if it is not known who did it.
        case removed(by: PublicKey?)
        case left
        /// Another copy of this account has changed the keys.
        case overtaken
    }

    /// What became of a message.
    public enum Delivery: Sendable, Hashable {
        /// It is another member's.
        case received
        /// No relay has it yet.
        case pending
        /// A relay has it.
        case sent
        /// It does not go out any more, and why; ``AppAction/retryMessage(chatID:messageID:)`` tries again.
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
        /// What the sender says; its clock, or the sender, may be wrong.
        public let createdAt: Int64
        /// What messages are ordered by: ``createdAt``, unless that is far from when the message arrived.
        public let time: Int64
        /// Unix seconds at which it ends; nil if it stays.
        public let expiresAt: Int64?
        /// The message that this one answers.
        public let replyTo: EventID?
        public let media: [MediaAttachment]
        /// What became of files that were asked for, by ``MediaAttachment/index``; none for the others.
        public internal(set) var downloads: [Int: MediaDownload]
        /// In the order of their first use.
        public internal(set) var reactions: [Reaction]
        /// Nil unless ``kind`` is that of a hypernote.
        public internal(set) var hypernote: HypernoteView?
        public internal(set) var delivery: Delivery
    }

    /// A file on its way into the host's cache (``MediaCache``).
    public enum MediaDownload: Sendable, Hashable {
        case loading
        /// Where the host keeps it.
        case stored(location: String)
        case failed(String)
    }

    /// Everybody who reacted to a message with one emoji.
    public struct Reaction: Sendable, Hashable {
        public let emoji: String
        /// In order, each once.
        public internal(set) var senders: [PublicKey]
        /// Whether this account is among them.
        public internal(set) var isOwn: Bool

        public var count: Int { self.senders.count }
    }

    /// A chat as it is open.
    public struct ChatView: Sendable, Hashable {
        public internal(set) var chatID: String
        /// ``ChatSummary/displayName`` of the chat.
        public internal(set) var title = ""
        public internal(set) var isGroup = false
        public internal(set) var isAdmin = false
        /// Chat messages and hypernotes, oldest first; none once this account is out of the group.
        public internal(set) var messages: SharedArray<ChatMessage> = []
        /// Whether the store may have messages before the first; ``AppAction/loadOlderMessages(chatID:limit:)``.
        public internal(set) var canLoadOlder: Bool
        /// Other members who are typing, in the order of the members.
        public internal(set) var typing: [Member] = []
        public internal(set) var isLoadingOlder = false
        /// The first message that was unread when the chat was opened.
        public internal(set) var firstUnread: EventID?
        /// As ``ChatSummary/endReason``.
        public internal(set) var endReason: ChatEnd?
    }
}
