/// Whom a user follows: kind 3 (NIP-02).
///
/// Everything that is in the list stays when it is written again: relays, petnames, tags that are none of its own,
/// and the content, which older programs kept their relays in.
public struct FollowList: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public let publicKey: PublicKey
        /// Where the followed user's events are to be found; nil if none is named, or what is named is no relay.
        public let relay: RelayURL?
        /// What the follower calls the followed user; nil if nothing.
        public let petname: String?
    }

    public private(set) var tags: [Tag]
    public var content: String

    public init() {
        self.tags = []
        self.content = ""
    }

    /// Throws ``NostrError/Code/unexpectedKind`` for other kinds. Tags that name no key are kept and passed over.
    public init(_ event: Event) throws(NostrError) {
        guard event.kind == .followList else {
            throw NostrError(.unexpectedKind, "a follow list has kind 3, not \(event.kind)")
        }
        self.tags = event.tags
        self.content = event.content
    }

    /// The followed users in order, each once.
    public var entries: [Entry] {
        var seen: Set<PublicKey> = []
        return self.tags.compactMap { tag in
            guard let key = Self.key(of: tag), seen.insert(key).inserted else { return nil }
            let relay = tag.values.count > 2 ? try? RelayURL(tag.values[2]) : nil
            let petname = tag.values.count > 3 && !tag.values[3].isEmpty ? tag.values[3] : nil
            return Entry(publicKey: key, relay: relay, petname: petname)
        }
    }

    public func follows(_ key: PublicKey) -> Bool { self.tags.contains { Self.key(of: $0) == key } }

    /// Appends a user; one who is followed stays as it is. True if that changed anything.
    @discardableResult
    public mutating func follow(_ key: PublicKey) -> Bool {
        guard !self.follows(key) else { return false }
        self.tags.append(.user(key))
        return true
    }

    /// Takes a user off the list, however often it is there. True if that changed anything.
    @discardableResult
    public mutating func unfollow(_ key: PublicKey) -> Bool {
        let count = self.tags.count
        self.tags.removeAll { Self.key(of: $0) == key }
        return self.tags.count < count
    }

    public func unsigned(by author: PublicKey, createdAt: Int64) -> UnsignedEvent {
        UnsignedEvent(pubkey: author, createdAt: createdAt, kind: .followList, tags: self.tags, content: self.content)
    }

    private static func key(of tag: Tag) -> PublicKey? {
        guard tag.name == "p", let value = tag.value else { return nil }
        return try? PublicKey(hex: value)
    }
}
