/// A user's follow list: kind 3 (NIP-02).
///
/// Writing the list back preserves everything in it: relays, petnames, unrelated tags, and the content, where older
/// programs stored their relays.
public struct FollowList: Hashable, Sendable {
    /// One followed user.
    public struct Entry: Hashable, Sendable {
        /// The followed user's key; not checked to be on the curve.
        public let publicKey: PublicKey
        /// Relay with the followed user's events; nil if none is given or the address is invalid.
        public let relay: RelayURL?
        /// The follower's own name for the followed user; nil if none is given.
        public let petname: String?
    }

    /// All tags of the event in order, including those other than `p`.
    public private(set) var tags: [Tag]
    /// The content of the event, where older programs stored their relays.
    public var content: String

    /// Creates an empty list.
    public init() {
        self.tags = []
        self.content = ""
    }

    /// Throws `NostrError.Code.unexpectedKind` for other kinds. Tags without a valid key are kept but ignored.
    public init(_ event: Event) throws(NostrError) {
        guard event.kind == .followList else {
            throw NostrError(.unexpectedKind, "follow list: expected kind 3, found \(event.kind)")
        }
        self.tags = event.tags
        self.content = event.content
    }

    /// The followed users in order, without duplicates.
    public var entries: [Entry] {
        var seen: Set<PublicKey> = []
        return self.tags.compactMap { tag in
            guard let key = Self.key(of: tag), seen.insert(key).inserted else { return nil }
            let relay = tag.values.count > 2 ? try? RelayURL(tag.values[2]) : nil
            let petname = tag.values.count > 3 && !tag.values[3].isEmpty ? tag.values[3] : nil
            return Entry(publicKey: key, relay: relay, petname: petname)
        }
    }

    /// Returns whether a `p` tag names the user.
    public func follows(_ key: PublicKey) -> Bool { self.tags.contains { Self.key(of: $0) == key } }

    /// Appends a user unless already followed. Returns whether the list changed.
    @discardableResult
    public mutating func follow(_ key: PublicKey) -> Bool {
        guard !self.follows(key) else { return false }
        self.tags.append(.user(key))
        return true
    }

    /// Removes all entries of a user. Returns whether the list changed.
    @discardableResult
    public mutating func unfollow(_ key: PublicKey) -> Bool {
        let count = self.tags.count
        self.tags.removeAll { Self.key(of: $0) == key }
        return self.tags.count < count
    }

    /// Returns the event to sign; it replaces the author's earlier list.
    public func unsigned(by author: PublicKey, createdAt: UnixTime) -> UnsignedEvent {
        UnsignedEvent(pubkey: author, createdAt: createdAt, kind: .followList, tags: self.tags, content: self.content)
    }

    private static func key(of tag: Tag) -> PublicKey? {
        guard tag.name == "p", let value = tag.value else { return nil }
        return try? PublicKey(hex: value)
    }
}
