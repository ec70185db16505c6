public import Nostr

/// The whole state that a reader may see: one value, replaced at every change, which never contains a secret.
public struct AppState: Sendable, Hashable {
    /// Rises with every change, and with every other update that readers receive in between (``AppUpdate/rev``).
    public internal(set) var rev: UInt64 = 0
    /// The screens that are open. A chat that this account has created is shown at once; the list is shown again after
    /// leaving the shown chat, or after removal from it.
    public internal(set) var router = Router()
    /// The account, and the location of its key.
    public internal(set) var auth: Auth = .loggedOut
    /// This account's own profile; nil until it is known.
    public internal(set) var myProfile: Profile?
    /// The operations in progress.
    public internal(set) var busy = Busy()
    /// Ordered by newest message, newest first.
    public internal(set) var chatList: SharedArray<ChatSummary> = []
    /// Set exactly while the top screen is a chat.
    public internal(set) var currentChat: ChatView?
    /// The accounts that this account follows (NIP-02).
    public internal(set) var followList: [FollowedPeer] = []
    /// The peer whose profile is open.
    public internal(set) var peerProfile: PeerProfile?
    /// The current call, or the one that ended last.
    public internal(set) var activeCall: ActiveCall?
    /// Call events, oldest first.
    public internal(set) var callTimeline: [CallTimelineEntry] = []
    /// The newest message to show to the user, such as a failure; nil after ``AppAction/clearToast``.
    public internal(set) var toast: String?
    /// Invitations waiting for a decision.
    public internal(set) var invites: [InviteSummary] = []
    /// The relays of this account and of its groups, with the state of their connections.
    public internal(set) var relays: [RelayStatus] = []
    /// The events that wait for delivery.
    public internal(set) var outbox = OutboxStatus()
    /// The state of the remote signer; nil if this process holds the account's key.
    public internal(set) var signer: SignerStatus?
    /// Whether a relay has acknowledged a key package of this account since the start. It stays true when a new one is
    /// announced, because the old one is deleted only after a relay has the new one. ``keyPackage`` describes the
    /// newest.
    public internal(set) var hasPublishedKeyPackage = false
    /// The newest announcement of the key package since the start.
    public internal(set) var keyPackage = KeyPackageAnnouncement()
    /// Chats whose stored events are being read from the relays: earlier messages may still arrive.
    public internal(set) var readingChats: Set<ChatID> = []

    /// Creates the state before the core has started.
    public init() {}

    /// A screen of an app.
    public enum Screen: Sendable, Hashable {
        /// The list of chats.
        case chatList
        /// One chat with its messages.
        case chat(chatID: ChatID)
        /// The form for a new direct chat.
        case newChat
        /// The form for a new group.
        case newGroupChat
        /// The members and settings of a group.
        case groupInfo(chatID: ChatID)
    }

    /// A default screen and the screens pushed onto it.
    public struct Router: Sendable, Hashable {
        /// The screen at the bottom, which is never removed.
        public let defaultScreen = Screen.chatList
        /// The screens pushed onto the default screen, the top one last.
        public internal(set) var stack: [Screen] = []

        /// The visible screen: the last of ``stack``, or else ``defaultScreen``.
        public var top: Screen { self.stack.last ?? self.defaultScreen }
    }

    /// An account with the location of its key.
    public enum Auth: Sendable, Hashable {
        /// The core has not started.
        case loggedOut
        /// The core runs this account; its key is at this location.
        case loggedIn(PublicKey, Mode = .localKey)

        /// The location of the account's key.
        public enum Mode: Sendable, Hashable {
            /// The key is in this process.
            case localKey
            /// With a remote signer (NIP-46); ``AppState/signer`` shows its state.
            case remoteSigner
        }
    }

    /// Operations in progress.
    public struct Busy: Sendable, Hashable {
        /// A new chat is being created.
        public internal(set) var creatingChat = false
        /// Chats whose membership or data is being changed; a departure that a relay has does not count.
        public internal(set) var changingChats: Set<ChatID> = []
    }

    /// An invitation by an admin of its group; invitations by other members are refused.
    public struct InviteSummary: Sendable, Hashable {
        /// The kind 1059 event that carried it.
        public let wrapper: EventID
        /// The kind 444 event inside.
        public let welcome: EventID
        /// The account that invited this one. In groups of the second generation the admin who signed the Welcome,
        /// which another account may have sent.
        public let inviter: PublicKey
        /// The Welcome's description of the group; nil only if an earlier version of this software stored it.
        public internal(set) var group: InvitedGroup?
    }

    /// A group as described by an invitation.
    public struct InvitedGroup: Sendable, Hashable {
        /// The group's name.
        public let name: String
        /// The group's description; may be empty.
        public let description: String
        /// The number of members, including this account.
        public let memberCount: Int
        /// The id of the chat after accepting; nil only if an earlier version of this software stored it.
        public let chatID: ChatID?
        /// Hex of the group's nostrGroupID; nil only if an earlier version of this software stored it.
        public let nostrGroupID: String?
        /// The account that signed the Welcome, if another one sent it.
        var inviter: PublicKey?
    }

    /// The state of one relay.
    public struct RelayStatus: Sendable, Hashable {
        /// The relay's URL.
        public let url: RelayURL
        /// The state of the connection.
        public internal(set) var connection: RelayConnectionState
        /// Whether all its stored events were read since it connected.
        public internal(set) var isCaughtUp: Bool
        /// The last period of disconnection from it; nil before the first read.
        public internal(set) var gap: RelayGap?
    }

    /// A period of disconnection from a relay, and the result of reading its events from that time.
    public struct RelayGap: Sendable, Hashable {
        /// The time of the newest event known before it; nil if the relay was never read.
        public internal(set) var from: UnixTime?
        /// The time when the relay was read, or the read failed.
        public internal(set) var to: UnixTime
        /// New events processed, including useless ones.
        public internal(set) var recovered = 0
        /// New events that could not be opened yet; they may be opened later.
        public internal(set) var unknown = 0
        /// Failed attempts to read the relay: its content is unknown until one succeeds.
        public internal(set) var failedReads = 0
        /// Whether the relay was read to the end.
        public internal(set) var isRead = false
    }

    /// The state of the events that wait for delivery.
    public struct OutboxStatus: Sendable, Hashable {
        /// Events that no relay has acknowledged.
        public internal(set) var pending = 0
    }
}

/// An update to a reader of the core.
///
/// The ``rev`` of a stream's updates strictly increases: each update has its own, also if several leave in one batch, or
/// if snapshots were merged for a slow reader. A reader that drops every update whose `rev` is not above the last one
/// therefore loses nothing. Applying the newest state is always enough.
public enum AppUpdate: Sendable, Hashable {
    /// The whole state after a change.
    indirect case fullState(AppState)
    /// A dispatched action ended; the reader has received the state that shows its result before.
    case finished(rev: UInt64, request: RequestID, outcome: ActionOutcome)
    /// The delivery of a message of this account: the first relay has it, or all relays have refused it permanently.
    case delivery(rev: UInt64, chatID: ChatID, messageID: EventID, AppState.Delivery)

    /// The number of the update, above those of all updates that the reader received before.
    public var rev: UInt64 {
        switch self {
        case .fullState(let state): state.rev
        case .finished(let rev, _, _): rev
        case .delivery(let rev, _, _, _): rev
        }
    }
}
