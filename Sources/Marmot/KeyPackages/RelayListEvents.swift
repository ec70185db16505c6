public import Nostr

/// Replaceable events with an account's relays: kind 10051 lists the relays with its key packages (MIP-00), kind 10050
/// those from which it reads gift wraps (NIP-17).
public enum RelayListEvents {
    /// Returns a signed list of this account, which replaces its earlier one of that kind.
    ///
    /// - Parameter kind: ``Nostr/Kind/keyPackageRelays`` or ``Nostr/Kind/inboxRelays``.
    public static func event(
        _ kind: Kind, relays: [RelayURL], by account: KeyPair, now: UnixTime,
        using rng: inout some RandomNumberGenerator
    ) -> Event {
        self.draft(kind, relays: relays, by: account.publicKey, now: now).signed(by: account, using: &rng)
    }

    /// Unsigned variant of ``event(_:relays:by:now:using:)``.
    public static func draft(
        _ kind: Kind, relays: [RelayURL], by account: PublicKey, now: UnixTime
    ) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: account, createdAt: now, kind: kind, tags: relays.map { Tag("relay", $0.string) }, content: "")
    }

    /// Returns the relays in an author's newest list among events from any relays; nil if there is no list.
    ///
    /// Skips addresses other than ws:// and wss:// URLs. Of equally old lists the one with the lowest id counts
    /// (NIP-01). The caller has verified the events' signatures.
    public static func relays(_ kind: Kind, of author: PublicKey, in events: some Sequence<Event>) -> [RelayURL]? {
        let lists = events.lazy.filter { $0.kind == kind && $0.pubkey == author }
        return lists.min { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }?.relayTags
    }
}
