public import Nostr

/// The configuration that a core starts with; most of it can change later (``AppAction/reloadConfiguration(_:)``).
public struct CoreConfiguration: Sendable, Hashable {
    /// The accounts that may add this account to a group without its approval.
    public enum InvitePolicy: Sendable, Hashable {
        /// Every account.
        case anyone
        /// No account: every invitation waits for a decision.
        case nobody
        /// These accounts.
        case only(Set<PublicKey>)

        func admits(_ inviter: PublicKey) -> Bool {
            switch self {
            case .anyone: true
            case .nobody: false
            case .only(let keys): keys.contains(inviter)
            }
        }
    }

    /// Rate limits: invitations above them are refused unread, and only counted; nil for no limit.
    public struct InviteLimits: Sendable, Hashable {
        /// Limit for one inviter.
        public var perInviter: RateLimit?
        /// Joint limit for all inviters that the policy does not name and that share no group with this account.
        public var strangers: RateLimit?

        /// Creates limits; by default there are none.
        public init(perInviter: RateLimit? = nil, strangers: RateLimit? = nil) {
            self.perInviter = perInviter
            self.strangers = strangers
        }
    }

    /// Relays of this account's inbox and public events, and of the groups that it creates.
    public var relays: [RelayURL]
    /// Relays where this account's key packages are announced, and others' are searched first; if empty: ``relays``.
    public var keyPackageRelays: [RelayURL]
    /// The invitations that are accepted automatically.
    public var invites: InvitePolicy
    /// Rate limits of invitations to groups.
    public var inviteLimits: InviteLimits
    /// Rate limit of one member's call invitations; nil for none.
    public var callLimit: RateLimit?
    /// Whether a key package is published at the start, so that others can invite this account.
    public var publishesKeyPackage: Bool
    /// Whether events are stored until ``AppCore/complete(_:effects:)``: true when bots are attached.
    public var keepsInbox: Bool
    /// This client's name in public events.
    public var client: String
    /// The schedule on which this account renews its keys in its groups automatically.
    public var selfUpdate: SelfUpdatePolicy
    /// The maximum size, in bytes, of an event that relays accept: a group's Welcomes and commits must fit into it.
    public var maximumEventBytes: Int
    /// The maximum number of relays used from each of a peer's own lists: anyone can publish long lists.
    public var maximumPeerRelays: Int
    /// The maximum number of peers' relays that one search for key packages asks.
    public var maximumSearchRelays: Int
    /// Limits on the number and age of stored items.
    public var retention: RetentionPolicy
    /// Whether this copy of the account announces itself to others through relays, and stops when a later copy does.
    public var detectsCopies: Bool
    /// Servers where files are uploaded, in order of preference, and searched when the sender's server lacks a file.
    public var mediaServers: [MediaURL]
    /// The calls that ring.
    public var calls: CallPolicy

    /// Whether the profiles of chats' members are fetched automatically, which reveals to relays who shares a group. A
    /// request asks for up to 100 people; there are at most 60 at once, then one a minute.
    public var readsProfiles: Bool
    /// The reaction to a member that repeatedly undoes the commits of a group.
    public var onRollbackStorm: RollbackStormPolicy
    /// The protocol generation of the groups that this account creates, unless an action names one.
    public var groupProtocol: GroupProtocol

    /// Creates a configuration; negative numbers of relays become 0.
    public init(
        relays: [RelayURL], invites: InvitePolicy = .nobody, publishesKeyPackage: Bool = true, keepsInbox: Bool = true,
        client: String = "pikabot", selfUpdate: SelfUpdatePolicy = .standard, maximumEventBytes: Int = 65_536,
        maximumPeerRelays: Int = 10, maximumSearchRelays: Int = 64,
        retention: RetentionPolicy = .standard, detectsCopies: Bool = false,
        mediaServers: [MediaURL] = [], keyPackageRelays: [RelayURL] = [], calls: CallPolicy = .handlers,
        readsProfiles: Bool = true, inviteLimits: InviteLimits = InviteLimits(), callLimit: RateLimit? = nil,
        onRollbackStorm: RollbackStormPolicy = .report, groupProtocol: GroupProtocol = .auto
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
        self.groupProtocol = groupProtocol
    }

    /// The relays of this account's key packages.
    var announcementRelays: [RelayURL] { self.keyPackageRelays.isEmpty ? self.relays : self.keyPackageRelays }

    /// All relays of this account, those of its key packages first.
    package var homeRelays: [RelayURL] {
        var seen: Set<RelayURL> = []
        return (self.announcementRelays + self.relays).filter { seen.insert($0).inserted }
    }
}
