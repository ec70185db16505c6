public import Nostr

extension AppState {
    /// What an account says of itself (kind 0, NIP-01 and NIP-24).
    public struct Profile: Sendable, Hashable {
        public let publicKey: PublicKey
        /// As it is; nil if the profile has none. ``shownName`` is what to show.
        public internal(set) var name: String?
        public internal(set) var displayName: String?
        public internal(set) var about: String?
        /// An address as its owner wrote it.
        public internal(set) var picture: String?
        /// Unix seconds that the profile was written at; nil while none is known.
        public internal(set) var createdAt: Int64?

        public init(publicKey: PublicKey) {
            self.publicKey = publicKey
        }
    }

    /// A peer of this account's follow list (kind 3).
    public struct FollowedPeer: Sendable, Hashable {
        public internal(set) var profile: Profile
    }

    /// A peer that is looked at (``AppAction/openPeerProfile(_:)``).
    public struct PeerProfile: Sendable, Hashable {
        public internal(set) var profile: Profile
        public internal(set) var isFollowed: Bool
    }
}

extension AppState.Profile {
    /// The display name, else the name, else the beginning of the npub.
    public var shownName: String {
        for name in [self.displayName, self.name] {
            if let name, !name.isEmpty { return name }
        }
        return String(self.publicKey.npub.prefix(12))
    }
}
