/// NIP-09: an author's request to delete their own events.
public struct Deletion: Hashable, Sendable {
    /// The events to delete, from `e` tags.
    public var eventIDs: [EventID]
    /// The replaceable or addressable events to delete, from `a` tags.
    public var addresses: [EventAddress]
    /// The kinds of the events, as a hint for relays.
    public var kinds: [Kind]
    /// The author's reason, the content of the event; may be empty.
    public var reason: String

    /// Creates a request; only one with ids or addresses deletes anything.
    public init(eventIDs: [EventID] = [], addresses: [EventAddress] = [], kinds: [Kind] = [], reason: String = "") {
        self.eventIDs = eventIDs
        self.addresses = addresses
        self.kinds = kinds
        self.reason = reason
    }

    /// Parses kind 5; throws `NostrError.Code.unexpectedKind` for others. Ignores tags without a valid reference.
    public init(_ event: Event) throws(NostrError) {
        guard event.kind == .deletion else {
            throw NostrError(.unexpectedKind, "deletion: expected kind 5, found \(event.kind)")
        }
        self.init(
            eventIDs: event.tags(named: "e").compactMap { $0.value.flatMap(Bytes32.init(hex:)) }.map(
                EventID.init(value:)),
            addresses: event.tags(named: "a").compactMap { $0.value.flatMap(EventAddress.init) },
            kinds: event.tags(named: "k").compactMap { $0.value.flatMap { UInt16(decimal: $0) } }.map(
                Kind.init(rawValue:)),
            reason: event.content)
    }

    /// Returns the event to sign, kind 5.
    public func unsigned(by author: PublicKey, now: UnixTime) -> UnsignedEvent {
        let tags =
            eventIDs.map(Tag.event) + addresses.map { Tag("a", $0.description) }
            + kinds.map { Tag("k", $0.description) }
        return UnsignedEvent(pubkey: author, createdAt: now, kind: .deletion, tags: tags, content: reason)
    }

    /// Returns whether a deletion signed by `author` at `requestedAt` deletes `event`. It deletes only the author's own
    /// events, never a deletion, and for an address only the versions up to that time.
    public func covers(_ event: Event, author: PublicKey, requestedAt: UnixTime) -> Bool {
        guard event.pubkey == author, event.kind != .deletion else { return false }
        if eventIDs.contains(event.id) { return true }
        guard let address = event.address, event.createdAt <= requestedAt else { return false }
        return addresses.contains(address)
    }
}
