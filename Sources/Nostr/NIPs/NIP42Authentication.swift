/// NIP-42: authentication of a client's key to a relay.
public enum NIP42 {
    /// Maximum deviation of the client's clock in seconds.
    public static let tolerance: Int64 = 600

    /// Returns the answer to `["AUTH", challenge]`.
    public static func authenticationEvent(
        challenge: String, relay: RelayURL, by key: KeyPair, now: UnixTime,
        using generator: inout some RandomNumberGenerator
    ) -> Event {
        self.draft(challenge: challenge, relay: relay, by: key.publicKey, now: now).signed(by: key, using: &generator)
    }

    /// Unsigned variant of ``authenticationEvent(challenge:relay:by:now:using:)``.
    public static func draft(
        challenge: String, relay: RelayURL, by key: PublicKey, now: UnixTime
    ) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: key, createdAt: now, kind: .clientAuthentication,
            tags: [Tag("relay", relay.string), Tag("challenge", challenge)], content: "")
    }

    /// Verifies an answer and returns the authenticated key.
    ///
    /// The `relay` tag must name the host of `relay`; port and path may differ, as they do behind proxies.
    ///
    /// - Throws: `NostrError.Code.unexpectedKind`; `NostrError.Code.authenticationRejected`; errors of
    ///   ``Event/verify()``.
    @discardableResult
    public static func verify(
        _ event: Event, challenge: String, relay: RelayURL, now: UnixTime, tolerance: Int64 = NIP42.tolerance
    ) throws(NostrError) -> PublicKey {
        guard event.kind == .clientAuthentication else {
            throw NostrError(.unexpectedKind, "authentication: expected kind 22242, found \(event.kind)")
        }
        guard now.seconds(since: event.createdAt).magnitude <= tolerance.magnitude else {
            throw NostrError(.authenticationRejected, "the authentication's created_at is too far from now")
        }
        guard !challenge.isEmpty, event.firstTag("challenge")?.value == challenge else {
            throw NostrError(.authenticationRejected, "the authentication answers another challenge")
        }
        guard let named = event.firstTag("relay")?.value, let url = try? RelayURL(named), url.host == relay.host else {
            throw NostrError(.authenticationRejected, "the authentication is for another relay")
        }
        try event.verify()
        return event.pubkey
    }
}
