/// Permission for one action on a Blossom media server: an event of kind 24242 in the `Authorization` header (BUD-01).
public enum BlossomAuthorization {
    /// The permitted action, named as in the event's `t` tag.
    public enum Action: String, Sendable, CaseIterable {
        /// Downloads a blob.
        case get
        /// Uploads a blob.
        case upload
        /// Lists a user's blobs.
        case list
        /// Deletes a blob.
        case delete
    }

    /// Maximum lead of an event's time over the server's clock, in seconds.
    public static let tolerance: Int64 = 60

    /// Creates an event that permits one action on the given blobs for a limited time.
    ///
    /// - Parameters:
    ///   - hashes: SHA-256 of each permitted blob.
    ///   - lifetime: seconds after `now`.
    public static func event(
        _ action: Action, hashes: [Bytes32], content: String, by key: KeyPair, now: UnixTime, lifetime: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Event {
        self.draft(action, hashes: hashes, content: content, by: key.publicKey, now: now, lifetime: lifetime)
            .signed(by: key, using: &generator)
    }

    /// Unsigned variant of ``event(_:hashes:content:by:now:lifetime:using:)``.
    public static func draft(
        _ action: Action, hashes: [Bytes32], content: String, by key: PublicKey, now: UnixTime, lifetime: Int64
    ) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: key, createdAt: now, kind: .blossomAuthorization,
            tags: [Tag("t", action.rawValue)] + hashes.map { Tag("x", $0.hex) } + [
                Tag("expiration", (now + lifetime).description)
            ], content: content)
    }

    /// Returns the header's value: `Nostr ` and the event in Base64.
    public static func header(_ event: Event) -> String { "Nostr " + Base64.encode(event.json()) }

    /// Parses the header's value; also accepts URL-safe and unpadded Base64.
    ///
    /// - Throws: `NostrError.Code.invalidBase64` for another scheme or invalid Base64; errors of
    ///   ``Event/init(json:)``.
    public static func event(header: String) throws(NostrError) -> Event {
        let parts = header.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "nostr" else {
            throw NostrError(.invalidBase64, "the header must be \"Nostr\" and an event in Base64")
        }
        var text = parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        while !text.count.isMultiple(of: 4) { text.append("=") }
        guard let json = Base64.decode(String(text)) else {
            throw NostrError(.invalidBase64, "the event in the header is not Base64")
        }
        return try Event(json: json)
    }

    /// Checks everything except the blob, for which see ``allows(_:_:)``.
    ///
    /// - Throws: `NostrError.Code.unexpectedKind`; `NostrError.Code.authenticationRejected`; errors of
    ///   ``Event/verify()``.
    public static func verify(_ event: Event, for action: Action, now: UnixTime) throws(NostrError) {
        guard event.kind == .blossomAuthorization else {
            throw NostrError(.unexpectedKind, "authorization: expected kind 24242, found \(event.kind)")
        }
        guard event.firstTag("t")?.value == action.rawValue else {
            throw NostrError(.authenticationRejected, "tag t of the authorization: expected \(action.rawValue)")
        }
        guard event.createdAt <= now + Self.tolerance else {
            throw NostrError(.authenticationRejected, "the authorization's created_at is in the future")
        }
        guard let expiration = event.firstTag("expiration")?.value.flatMap({ Int64($0) }),
            UnixTime(expiration) > now
        else {
            throw NostrError(.authenticationRejected, "the authorization has expired, or lacks an expiration")
        }
        try event.verify()
    }

    /// Returns whether the event's `x` tags name this blob.
    public static func allows(_ event: Event, _ hash: Bytes32) -> Bool {
        event.tags(named: "x").contains { $0.value.flatMap { Bytes32(hex: $0) } == hash }
    }
}
