import Marmot
import Nostr

/// Reads the relay lists of accounts.
enum PublishedLists {
    /// Returns the relays in an account's newest list of a kind among events from any relays; nil if there is none. Of
    /// list 10002 these are the relays to which the account writes, without those with an unknown marker, as in MDK.
    static func relays(_ kind: Kind, of account: PublicKey, in events: some Sequence<Event>) -> [RelayURL]? {
        guard kind == .relayList else { return RelayListEvents.relays(kind, of: account, in: events) }
        let lists = events.filter { $0.kind == kind && $0.pubkey == account }
        // Of equally old lists the one with the lowest id counts (NIP-01).
        guard let newest = lists.min(by: { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }) else { return nil }
        var relays: [RelayURL] = []
        for tag in newest.tags(named: "r") where tag.values.count < 3 || ["", "write"].contains(tag.values[2]) {
            guard let relay = tag.value.flatMap({ try? RelayURL($0) }), !relays.contains(relay) else { continue }
            relays.append(relay)
        }
        return relays
    }
}
