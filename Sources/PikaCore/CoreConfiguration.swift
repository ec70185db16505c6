public import Nostr

/// What a core is told at its start; most of it can change later (``AppAction/reloadConfiguration(_:)``).
public struct CoreConfiguration: Sendable, Hashable {
    /// Who may bring this account into a group without asking.
    public enum InvitePolicy: Sendable, Hashable {
        case anyone
        case nobody
        case only(Set<PublicKey>)

        func admits(_ inviter: PublicKey) -> Bool {
            switch self {
            case .anyone: true
            case .nobody: false
            case .only(let keys): keys.contains(inviter)
            }
        }
    }

    /// Invitations above these are refused unread, and only counted; nil for no limit.
    public struct InviteLimits: Sendable, Hashable {
        /// Of one inviter.
        public var perInviter: RateLimit?
        /// Of all inviters together whom the policy does not name and who share no group with this account.
        public var strangers: RateLimit?

        public init(perInviter: RateLimit? = nil, strangers: RateLimit? = nil) {
            self.perInviter = perInviter
            self.strangers = strangers
        }
    }

    public var relays: [RelayURL]
    /// Where this account's key packages are announced, and others' are looked for first; empty: ``relays``.
    public var keyPackageRelays: [RelayURL]
    public var invites: InvitePolicy
    /// How many invitations are looked at.
    public var inviteLimits: InviteLimits
    /// Invitations to calls by one member that are looked at; nil for all.
    public var callLimit: RateLimit?
    /// Whether a key package is published at the start, so that others can invite this account.
    public var publishesKeyPackage: Bool
    /// Whether events are kept until ``AppCore/complete(_:effects:)``: true when bots are attached.
    public var keepsInbox: Bool
    /// What this client calls itself in public events.
    public var client: String
    /// When this account renews its keys in its groups by itself.
    public var selfUpdate: SelfUpdatePolicy
    /// The bytes of an event that relays take: what a group's Welcomes and commits must fit into.
    public var maximumEventBytes: Int
    /// Relays that a peer's own lists name, at most so many of each list: anybody can publish long ones.
    public var maximumPeerRelays: Int
    /// Relays of peers that one search for key packages asks.
    public var maximumSearchRelays: Int
    /// What is kept, and for how long.
    public var retention: RetentionPolicy
    /// Whether this copy of the account tells others through relays that it runs, and ends when a later one does.
    public var detectsCopies: Bool
    /// Where files are uploaded, in order of preference, and looked for when the sender's server does not have them.
    public var mediaServers: [MediaURL]
    /// Which calls ring.
    public var calls: CallPolicy

    /// Whether the profiles of chats' members are read without being asked for: relays learn who is in a group together.
    public var readsProfiles: Bool
    /// The reaction to a member that keeps undoing the commits of a group.
    public var onRollbackStorm: RollbackStormPolicy

    public init(
        relays: [RelayURL], invites: InvitePolicy = .nobody, publishesKeyPackage: Bool = true, keepsInbox: Bool = true,
        client: String = "pikabot", selfUpdate: SelfUpdatePolicy = .standard, maximumEventBytes: Int = 65_536,
        maximumPeerRelays: Int = 10, maximumSearchRelays: Int = 64,
        retention: RetentionPolicy = .standard, detectsCopies: Bool = false,
        mediaServers: [MediaURL] = [], keyPackageRelays: [RelayURL] = [], calls: CallPolicy = .handlers,
        readsProfiles: Bool = true, inviteLimits: InviteLimits = InviteLimits(), callLimit: RateLimit? = nil,
        onRollbackStorm: RollbackStormPolicy = .report
    ) {
        self.relays = relays
        self.keyPackageRelays = keyPackageRelays
        self.invites = invites
        self.publishesKeyPackage = publishesKeyPackage
        self.keepsInbox = keepsInbox
        self.client = client
        self.selfUpdate = selfUpdate
        self.maximumEventBytes = maximumEventBytes
        self.maximumPeerRelays = max(0, maximumPeerRelays)
        self.maximumSearchRelays = max(0, maximumSearchRelays)
        self.retention = retention
        self.detectsCopies = detectsCopies
        self.mediaServers = mediaServers
        self.calls = calls
        self.readsProfiles = readsProfiles
        self.inviteLimits = inviteLimits
        self.callLimit = callLimit
        self.onRollbackStorm = onRollbackStorm
    }

    /// Where key packages of one's own are.
    var announcementRelays: [RelayURL] { self.keyPackageRelays.isEmpty ? self.relays : self.keyPackageRelays }

    /// All relays of this account, those of its key packages first.
    var homeRelays: [RelayURL] {
        var seen: Set<RelayURL> = []
        return (self.announcementRelays + self.relays).filter { seen.insert($0).inserted }
    }
}
