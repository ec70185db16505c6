public import Nostr

/// The whole state that a reader may see: one value, replaced at every change, never with a secret in it.
public struct AppState: Sendable, Hashable {
    /// Rises by one with every change.
    public internal(set) var rev: UInt64 = 0
    public internal(set) var router = Router()
    public internal(set) var auth: Auth = .loggedOut
    /// This account's own profile; nil until it is known.
    public internal(set) var myProfile: Profile?
    public internal(set) var busy = Busy()
    /// The chat of the newest message first.
    public internal(set) var chatList: SharedArray<ChatSummary> = []
    /// Filled exactly when the top screen is a chat.
    public internal(set) var currentChat: ChatView?
    /// Whom this account follows (NIP-02).
    public internal(set) var followList: [FollowedPeer] = []
    /// The peer that is looked at.
    public internal(set) var peerProfile: PeerProfile?
    /// The call under way, or the one that ended last.
    public internal(set) var activeCall: ActiveCall?
    /// What happened in calls, oldest first.
    public internal(set) var callTimeline: [CallTimelineEntry] = []
    public internal(set) var toast: String?
    /// Invitations that wait for a decision.
    public internal(set) var invites: [InviteSummary] = []
    public internal(set) var relays: [RelayStatus] = []
    public internal(set) var outbox = OutboxStatus()
    /// Nil if the account's key is here.
    public internal(set) var signer: SignerStatus?
    /// Whether a relay has acknowledged a key package of this account since the start; stays true when a new one is
    /// announced, because the old one is deleted only after a relay has the new one. ``keyPackage`` tells of the newest.
    public internal(set) var hasPublishedKeyPackage = false
    /// The newest announcement of the key package since the start.
    public internal(set) var keyPackage = KeyPackageAnnouncement()
    /// Chats of which the stored events are being read from the relays: what was said before may still come.
    public internal(set) var readingChats: Set<String> = []

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
        case loggedIn(PublicKey, Mode = .localKey)

        /// Where the account's key is.
        public enum Mode: Sendable, Hashable {
            case localKey
            /// Here too; it is stored under a password (NIP-49).
            case encryptedKey
            /// With a remote signer (NIP-46); ``AppState/signer`` tells how it is.
            case remoteSigner
        }
    }

    /// Operations under way.
    public struct Busy: Sendable, Hashable {
        public internal(set) var creatingAccount = false
        public internal(set) var loggingIn = false
        public internal(set) var creatingChat = false
        /// Chats whose membership or data is being changed.
        public internal(set) var changingChats: Set<String> = []
    }

    /// An invitation by an admin of its group; those of others are refused.
    public struct InviteSummary: Sendable, Hashable {
        /// The kind 1059 event that brought it.
        public let wrapper: EventID
        /// The kind 444 event inside.
        public let welcome: EventID
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
        /// The chat that it becomes; nil only if an earlier version of this software kept it.
        public let chatID: String?
        /// Hex of the group's nostrGroupID; nil only if an earlier version of this software kept it.
        public let nostrGroupID: String?
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
    /// What became of an own message: the first relay has it, or all have refused it for good.
    case delivery(rev: UInt64, chatID: String, messageID: EventID, AppState.Delivery)
    /// A new account's secret key, handed out once. Nothing keeps it in the clear.
    case accountCreated(rev: UInt64, secretKey: KeyPair)

    public var rev: UInt64 {
        switch self {
        case .fullState(let state): state.rev
        case .finished(let rev, _, _): rev
        case .delivery(let rev, _, _, _): rev
        case .accountCreated(let rev, _): rev
        }
    }
}
