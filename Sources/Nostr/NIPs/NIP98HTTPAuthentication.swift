/// Authentication of one HTTP request: an event of kind 27235 in the `Authorization` header (NIP-98).
public enum HTTPAuthentication {
    /// Maximum difference between an event's time and the server's clock, in seconds.
    public static let tolerance: Int64 = 60

    /// Creates the event for a request without a body.
    ///
    /// - Parameters:
    ///   - url: The absolute URL of the request, with its query.
    ///   - method: The request's method, such as `POST`.
    public static func draft(
        url: String, method: String, by key: PublicKey, now: UnixTime
    ) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: key, createdAt: now, kind: .httpAuthentication,
            tags: [Tag("u", url), Tag("method", method)], content: "")
    }

    /// Returns the header's value: `Nostr ` and the event in Base64.
    public static func header(_ event: Event) -> String { BlossomAuthorization.header(event) }

    /// Parses the header's value.
    ///
    /// - Throws: `NostrError.Code.invalidBase64` for another scheme or invalid Base64; errors of
    ///   ``Event/init(json:)``.
    public static func event(header: String) throws(NostrError) -> Event {
        try BlossomAuthorization.event(header: header)
    }

    /// Checks that an event permits this request. A server must also refuse an event that it has seen before.
    ///
    /// - Throws: `NostrError.Code.unexpectedKind`; `NostrError.Code.authenticationRejected`; errors of
    ///   ``Event/verify()``.
    public static func verify(_ event: Event, url: String, method: String, now: UnixTime) throws(NostrError) {
        guard event.kind == .httpAuthentication else {
            throw NostrError(.unexpectedKind, "authentication: expected kind 27235, found \(event.kind)")
        }
        guard event.tags(named: "u").count == 1, event.firstTag("u")?.value == url else {
            throw NostrError(.authenticationRejected, "tag u of the authentication: expected \(url)")
        }
        guard event.firstTag("method")?.value?.uppercased() == method.uppercased() else {
            throw NostrError(.authenticationRejected, "tag method of the authentication: expected \(method)")
        }
        guard event.createdAt <= now + Self.tolerance, event.createdAt >= now - Self.tolerance else {
            throw NostrError(
                .authenticationRejected, "the authentication's created_at differs by more than \(Self.tolerance) s")
        }
        try event.verify()
    }
}
