public import Nostr

extension AppState {
    /// A member of a group.
    public struct Member: Sendable, Hashable {
        /// The member's Nostr public key.
        public let publicKey: PublicKey
        /// The member's own name; nil if it is not known.
        public let name: String?
        /// The address of the member's picture in its profile for the group, or else in its public profile; nil if none is
        /// known. A picture that is encrypted for the group has none: ``AppCore/groupProfileImage(chatID:publicKey:)``
        /// downloads it.
        public let picture: String?
        /// Whether the group data list the member as an admin.
        public let isAdmin: Bool

        init(publicKey: PublicKey, name: String? = nil, picture: String? = nil, isAdmin: Bool) {
            self.publicKey = publicKey
            self.name = name
            self.picture = picture
            self.isAdmin = isAdmin
        }
    }

    /// A change of a group that a member has proposed. It waits until another member commits it, or until the epoch ends.
    public struct WaitingProposal: Sendable, Hashable {
        /// The member that proposed the change.
        public let proposer: PublicKey
        /// The proposed change.
        public let change: Change

        /// A change that members can propose.
        public enum Change: Sendable, Hashable {
            /// The proposer leaves the group.
            case departure
            /// A member is removed.
            case removal(PublicKey)
            /// The account of a key package is added; nil if the key package names none.
            case addition(PublicKey?)
        }
    }

    /// A chat in the chat list.
    public struct ChatSummary: Sendable, Hashable {
        /// The id of the chat, which never changes.
        public internal(set) var chatID: ChatID
        /// Hex of the nostrGroupIDs that the group claims: the current one, then its recent ones.
        public internal(set) var routingIDs: [String]
        /// The name in the group's data; ``displayName`` is the one to show.
        public internal(set) var name: String
        /// The description in the group's data; may be empty.
        public internal(set) var description: String
        /// The relays where the group's events are published.
        public internal(set) var relays: [RelayURL]
        /// Whether it is more than a direct chat (docs/protocol/marmot.md §8.1).
        public internal(set) var isGroup: Bool
        /// The group's other members, in the order of their leaves; empty once this account is no longer in the group.
        public internal(set) var members: [Member]
        /// This account as a member; nil once it is no longer in the group.
        public internal(set) var me: Member?
        /// The position of ``me`` among ``allMembers``.
        var ownPosition = 0
        /// Whether this account is an admin of the group.
        public internal(set) var isAdmin: Bool
        /// The newest epoch of the group that this account knows.
        public internal(set) var epoch: UInt64
        /// False once this account was removed or has left. A departure counts when a relay has it, not only when
        /// another member has committed it.
        public internal(set) var isActive: Bool
        /// The text of the newest chat message or hypernote; nil if absent or expired.
        public internal(set) var lastMessage: String?
        /// The message's time, or its arrival if the sender's clock is ahead.
        public internal(set) var lastMessageAt: UnixTime?
        /// The time when ``lastMessage`` expires; nil if it does not.
        public internal(set) var lastMessageExpiresAt: UnixTime?
        /// Other members' chat messages and hypernotes since the chat was last open.
        public internal(set) var unreadCount: Int
        /// Changes with the group's picture; nil if it has none. ``AppCore/groupImage(chatID:servers:)`` downloads it.
        public internal(set) var imageHash: String?
        /// Whether another copy of this account has changed the keys, or the group's history cannot be followed any more:
        /// nothing can be sent until a member invites this copy.
        public internal(set) var needsInvitation = false
        /// Whether other groups claim the current nostrGroupID too; if so, it does not identify this chat.
        public internal(set) var sharesNostrGroupID = false
        /// A group's name, or `Group (5)` if it has none; for a direct chat the peer's own name, or else the beginning
        /// of its npub.
        public internal(set) var displayName = ""
        /// `5 members` for a group; for a direct chat the beginning of the peer's npub, nil if ``displayName`` already
        /// shows it.
        public internal(set) var subtitle: String?
        /// Whether the user has archived the chat; a new message brings it back.
        public internal(set) var isArchived = false
        /// The first message that ``unreadCount`` counts.
        public internal(set) var firstUnread: EventID?
        /// The protocol generation of the group, which never changes.
        public internal(set) var generation: GroupGeneration = .v1
        /// Whether members agree on the history of a group of the second generation; nil in the first one, and once a group
        /// that could not continue was left.
        public internal(set) var convergence: ChatConvergence?
        /// The reason why nothing can be sent; nil while this account is a member with valid keys.
        public internal(set) var endReason: ChatEnd?
        /// Changes that members have proposed and nobody has committed yet, such as a departure, also this account's own.
        public internal(set) var proposals: [WaitingProposal] = []

        /// All members with this account, in the order of their leaves; empty once this account is no longer in the group.
        public var allMembers: [Member] {
            guard let me = self.me else { return self.members }
            var all = self.members
            all.insert(me, at: min(self.ownPosition, all.count))
            return all
        }

        /// The name of a group; nil for a direct chat, and for a group without a name.
        public var groupName: String? { self.isGroup && !self.name.isEmpty ? self.name : nil }
    }

    /// The reason why a chat has ended for this account, until a member invites it again.
    public enum ChatEnd: Sendable, Hashable {
        /// The remover is nil if it is not known.
        case removed(by: PublicKey?)
        /// This account has left.
        case left
        /// Another copy of this account has changed the keys, or the group is ``ChatConvergence/unrecoverable(reason:)``.
        case overtaken
    }

    /// The delivery state of a message.
    public enum Delivery: Sendable, Hashable {
        /// The message is another member's.
        case received
        /// No relay has acknowledged it yet.
        case pending
        /// A relay has acknowledged it.
        case sent
        /// Sending has failed, with the reason; ``AppAction/retryMessage(chatID:messageID:)`` tries again.
        case failed(String)
    }

    /// A message of the open chat.
    public struct ChatMessage: Sendable, Hashable {
        /// The inner event's id.
        public let id: EventID
        /// The author, a member authenticated by MLS.
        public let sender: PublicKey
        /// The sender's own name, or else the beginning of its npub.
        public internal(set) var senderName: String
        /// Whether this account is the sender.
        public let isOwn: Bool
        /// The inner event's kind.
        public let kind: Kind
        /// The inner event's content.
        public let content: String
        /// The time that the sender states; it may be wrong.
        public let createdAt: UnixTime
        /// The time that messages are ordered by: ``createdAt``, unless that is far from the message's arrival.
        public let time: UnixTime
        /// The time when the message expires; nil if it does not.
        public let expiresAt: UnixTime?
        /// The message that this one replies to.
        public let replyTo: EventID?
        /// The files of the message, in order.
        public let media: [MediaAttachment]
        /// The state of requested downloads, by ``MediaAttachment/index``; files without a request have no entry.
        public internal(set) var downloads: [Int: MediaDownload]
        /// The reactions, in the order of their first use.
        public internal(set) var reactions: [Reaction]
        /// The hypernote in the message; nil unless ``kind`` is a hypernote's.
        public internal(set) var hypernote: HypernoteView?
        /// The state of the message's delivery to the relays.
        public internal(set) var delivery: Delivery
    }

    /// The state of a file's download into the host's cache (``MediaCache``).
    public enum MediaDownload: Sendable, Hashable {
        /// The download is in progress.
        case loading
        /// The file's location in the host's cache.
        case stored(location: String)
        /// The download failed, with the reason.
        case failed(String)
    }

    /// All reactions to a message with one emoji.
    public struct Reaction: Sendable, Hashable {
        /// The emoji, or a name between colons.
        public let emoji: String
        /// The members who reacted, in order and without duplicates.
        public internal(set) var senders: [PublicKey]
        /// Whether this account is among them.
        public internal(set) var isOwn: Bool

        /// The number of ``senders``.
        public var count: Int { self.senders.count }
    }

    /// The chat that is currently open.
    public struct ChatView: Sendable, Hashable {
        /// The id of the chat.
        public internal(set) var chatID: ChatID
        /// ``ChatSummary/displayName`` of the chat.
        public internal(set) var title = ""
        /// As ``ChatSummary/isGroup``.
        public internal(set) var isGroup = false
        /// As ``ChatSummary/groupName``.
        public internal(set) var groupName: String?
        /// As ``ChatSummary/members``: without this account.
        public internal(set) var members: [Member] = []
        /// As ``ChatSummary/me``.
        public internal(set) var me: Member?
        /// As ``ChatSummary/proposals``.
        public internal(set) var proposals: [WaitingProposal] = []
        /// As ``ChatSummary/isAdmin``.
        public internal(set) var isAdmin = false
        /// Chat messages and hypernotes, oldest first; empty once this account is no longer in the group.
        public internal(set) var messages: SharedArray<ChatMessage> = []
        /// Whether the store may have older messages; ``AppAction/loadOlderMessages(chatID:limit:)`` loads them.
        public internal(set) var canLoadOlder: Bool
        /// Other members who are typing, in the order of the members.
        public internal(set) var typing: [Member] = []
        /// Whether older messages are being read from the store.
        public internal(set) var isLoadingOlder = false
        /// The first message that was unread when the chat was opened.
        public internal(set) var firstUnread: EventID?
        /// As ``ChatSummary/endReason``.
        public internal(set) var endReason: ChatEnd?
    }
}
