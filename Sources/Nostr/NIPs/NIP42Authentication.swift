/// NIP-42: how a client proves to a relay which key it holds.
public enum NIP42 {
    /// How far the client's clock may be off, in seconds.
    public static let tolerance: Int64 = 600

    /// The answer to `["AUTH", challenge]`. `now` in seconds since 1970.
    public static func authenticationEvent(
        challenge: String, relay: RelayURL, by key: KeyPair, now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Event {
        self.draft(challenge: challenge, relay: relay, by: key.publicKey, now: now).signed(by: key, using: &generator)
    }

    /// As ``authenticationEvent(challenge:relay:by:now:using:)``, to be signed.
    public static func draft(
        challenge: String, relay: RelayURL, by key: PublicKey, now: Int64
    ) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: key, createdAt: now, kind: .clientAuthentication,
            tags: [Tag("relay", relay.string), Tag("challenge", challenge)], content: "")
    }

    /// Checks an answer and returns the key that is now authenticated.
    ///
    /// The `relay` tag must name the host of `relay`; port and path may differ, as they do behind proxies. Throws
    /// ``NostrError/Code/unexpectedKind``, ``NostrError/Code/authenticationRejected``, or as ``Event/verify()`` does.
    @discardableResult
    public static func verify(
        _ event: Event, challenge: String, relay: RelayURL, now: Int64, tolerance: Int64 = NIP42.tolerance
    ) throws(NostrError) -> PublicKey {
        guard event.kind == .clientAuthentication else {
            throw NostrError(.unexpectedKind, "an authentication has kind 22242, not \(event.kind)")
        }
        let (distance, overflow) = now.subtractingReportingOverflow(event.createdAt)
        guard !overflow, distance.magnitude <= tolerance.magnitude else {
            throw NostrError(.authenticationRejected, "the authentication was made at another time")
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
