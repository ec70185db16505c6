public import Nostr

extension AppState {
    /// An account's profile (kind 0, NIP-01 and NIP-24).
    public struct Profile: Sendable, Hashable {
        /// The account's Nostr public key.
        public let publicKey: PublicKey
        /// The `name` field as received; nil if the profile has none. ``shownName`` is the one to show.
        public internal(set) var name: String?
        /// The `display_name` field as received; nil if the profile has none.
        public internal(set) var displayName: String?
        /// The `about` field as received; nil if the profile has none.
        public internal(set) var about: String?
        /// The address as its owner wrote it.
        public internal(set) var picture: String?
        /// The time of the profile event; nil while none is known.
        public internal(set) var createdAt: UnixTime?

        /// Creates a profile of which nothing but the key is known.
        public init(publicKey: PublicKey) {
            self.publicKey = publicKey
        }
    }

    /// A peer in this account's follow list (kind 3).
    public struct FollowedPeer: Sendable, Hashable {
        /// The known part of the peer's profile.
        public internal(set) var profile: Profile
    }

    /// The peer whose profile is open (``AppAction/openPeerProfile(_:)``).
    public struct PeerProfile: Sendable, Hashable {
        /// The known part of the peer's profile.
        public internal(set) var profile: Profile
        /// Whether this account follows the peer.
        public internal(set) var isFollowed: Bool
    }
}

extension AppState.Profile {
    /// The display name, or else the name, or else the beginning of the npub.
    public var shownName: String {
        for name in [self.displayName, self.name] {
            if let name, !name.isEmpty { return name }
        }
        return String(self.publicKey.npub.prefix(12))
    }
}
