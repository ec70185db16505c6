public import Nostr

/// Where an account is to be found, as replaceable events: kind 10051 names the relays that hold its key packages
/// (MIP-00), kind 10050 those that it reads gift wraps from (NIP-17).
public enum RelayListEvents {
    /// A list of one's own; it replaces the earlier one of its kind.
    ///
    /// - Parameter kind: ``Nostr/Kind/keyPackageRelays`` or ``Nostr/Kind/inboxRelays``.
    public static func event(
        _ kind: Kind, relays: [RelayURL], by account: KeyPair, now: Int64, using rng: inout some RandomNumberGenerator
    ) -> Event {
        self.draft(kind, relays: relays, by: account.publicKey, now: now).signed(by: account, using: &rng)
    }

    /// As ``event(_:relays:by:now:using:)``, to be signed.
    public static func draft(
        _ kind: Kind, relays: [RelayURL], by account: PublicKey, now: Int64
    ) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: account, createdAt: now, kind: kind, tags: relays.map { Tag("relay", $0.string) }, content: "")
    }

    /// The relays of an author's newest list among events from any relays; nil if there is no list.
    ///
    /// Addresses that are not ws or wss are passed over. Of equally old lists the one with the lowest id counts
    /// (NIP-01). The events' signatures were verified before.
    public static func relays(_ kind: Kind, of author: PublicKey, in events: some Sequence<Event>) -> [RelayURL]? {
        let lists = events.lazy.filter { $0.kind == kind && $0.pubkey == author }
        return lists.min { (-$0.createdAt, $0.id) < (-$1.createdAt, $1.id) }?.relayTags
    }
}
