public import Nostr

/// The whole state that a reader may see: one value, replaced at every change, never with a secret in it.
public struct AppState: Sendable, Hashable {
    /// Rises by one with every change.
    public internal(set) var rev: UInt64 = 0
    public internal(set) var router = Router()
    public internal(set) var auth: Auth = .loggedOut
    public internal(set) var busy = Busy()
    public internal(set) var chatList: [ChatSummary] = []
    /// Filled exactly when the top screen is a chat.
    public internal(set) var currentChat: ChatView?
    public internal(set) var activeCall: ActiveCall?
    public internal(set) var toast: String?
    /// Invitations that wait for a decision.
    public internal(set) var invites: [InviteSummary] = []
    public internal(set) var relays: [RelayStatus] = []
    public internal(set) var outbox = OutboxStatus()
    /// Whether a relay has acknowledged this account's key package since the start.
    public internal(set) var hasPublishedKeyPackage = false

    public init() {}

    public enum Screen: Sendable, Hashable {
        case login
        case chatList
        case chat(chatID: String)
        case newChat
        case newGroupChat
        case groupInfo(chatID: String)
    }

    /// A default screen and what was pushed on it.
    public struct Router: Sendable, Hashable {
        public internal(set) var defaultScreen: Screen = .login
        public internal(set) var stack: [Screen] = []

        public var top: Screen { self.stack.last ?? self.defaultScreen }
    }

    public enum Auth: Sendable, Hashable {
        case loggedOut
        case loggedIn(PublicKey)
    }

    /// Operations under way.
    public struct Busy: Sendable, Hashable {
        public internal(set) var creatingChat = false
        /// Chats whose membership or data is being changed.
        public internal(set) var changingChats: Set<String> = []
    }

    public struct Member: Sendable, Hashable {
        public let publicKey: PublicKey
        public let isAdmin: Bool
    }

    public struct ChatSummary: Sendable, Hashable {
        /// Hex of the nostrGroupID.
        public internal(set) var chatID: String
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
    }

    public struct ActiveCall: Sendable, Hashable {
        public let callID: String
        public let chatID: String
        public let peer: PublicKey
        public internal(set) var phase: Phase

        public enum Phase: Sendable, Hashable {
            /// We invited and wait.
            case offering
            /// We were invited.
            case ringing
            case ended(reason: String)
        }
    }

    /// An invitation by an admin of its group; those of others are refused.
    public struct InviteSummary: Sendable, Hashable {
        public let wrapper: EventID
        public let inviter: PublicKey
        /// What the Welcome says of the group; nil only if an earlier version of this software kept it.
        public internal(set) var group: InvitedGroup?
    }

    /// A group as an invitation shows it.
    public struct InvitedGroup: Sendable, Hashable {
        public let name: String
        public let description: String
        /// This account included.
        public let memberCount: Int
    }

    public struct RelayStatus: Sendable, Hashable {
        public let url: RelayURL
        public internal(set) var connection: RelayConnectionState
        /// Whether everything stored there was read since it connected.
        public internal(set) var isCaughtUp: Bool
        /// What the last absence was, as far as it was read; nil before the first reading.
        public internal(set) var gap: RelayGap?
    }

    /// An absence from a relay, and what became of what it holds of that time.
    public struct RelayGap: Sendable, Hashable {
        /// Unix seconds of the newest event known before; nil if the relay was never read.
        public internal(set) var from: Int64?
        /// Unix seconds when it was read, or the reading failed.
        public internal(set) var to: Int64
        /// New events that were taken in, also those that were good for nothing.
        public internal(set) var recovered = 0
        /// New events that could not be opened so far; they may be later.
        public internal(set) var unknown = 0
        /// Attempts to read the relay that failed: what it holds is unknown until one succeeds.
        public internal(set) var failedReads = 0
        /// Whether the relay was read to the end.
        public internal(set) var isRead = false
    }

    public struct OutboxStatus: Sendable, Hashable {
        /// Events that no relay has acknowledged.
        public internal(set) var pending = 0
    }
}

/// What a reader of the core gets. Applying the newest is always enough: drop any with a `rev` not above the last.
public enum AppUpdate: Sendable, Hashable {
    case fullState(AppState)
    /// A dispatched action ended; `rev` is the state's in which its result shows.
    case finished(rev: UInt64, request: RequestID, outcome: ActionOutcome)

    public var rev: UInt64 {
        switch self {
        case .fullState(let state): state.rev
        case .finished(let rev, _, _): rev
        }
    }
}
