/// NIP-09: an author's request to delete events of their own.
public struct Deletion: Hashable, Sendable {
    public var eventIDs: [EventID]
    public var addresses: [EventAddress]
    /// The kinds of the events, a hint for relays.
    public var kinds: [Kind]
    public var reason: String

    public init(eventIDs: [EventID] = [], addresses: [EventAddress] = [], kinds: [Kind] = [], reason: String = "") {
        self.eventIDs = eventIDs
        self.addresses = addresses
        self.kinds = kinds
        self.reason = reason
    }

    /// Reads kind 5; throws ``NostrError/Code/unexpectedKind`` for others. Tags that refer to nothing are passed over.
    public init(_ event: Event) throws(NostrError) {
        guard event.kind == .deletion else {
            throw NostrError(.unexpectedKind, "a deletion has kind 5, not \(event.kind)")
        }
        self.init(
            eventIDs: event.tags(named: "e").compactMap { $0.value.flatMap(Bytes32.init(hex:)) }.map(
                EventID.init(value:)),
            addresses: event.tags(named: "a").compactMap { $0.value.flatMap(EventAddress.init) },
            kinds: event.tags(named: "k").compactMap { $0.value.flatMap { UInt16(decimal: $0) } }.map(
                Kind.init(rawValue:)),
            reason: event.content)
    }

    public func unsigned(by author: PublicKey, now: Int64) -> UnsignedEvent {
        let tags =
            eventIDs.map(Tag.event) + addresses.map { Tag("a", $0.description) }
            + kinds.map { Tag("k", $0.description) }
        return UnsignedEvent(pubkey: author, createdAt: now, kind: .deletion, tags: tags, content: reason)
    }

    /// Whether a deletion signed by `author` at `requestedAt` takes `event` away: only their own, never a deletion,
    /// and of an address only the versions up to then.
    public func covers(_ event: Event, author: PublicKey, requestedAt: Int64) -> Bool {
        guard event.pubkey == author, event.kind != .deletion else { return false }
        if eventIDs.contains(event.id) { return true }
        guard let address = event.address, event.createdAt <= requestedAt else { return false }
        return addresses.contains(address)
    }
}
