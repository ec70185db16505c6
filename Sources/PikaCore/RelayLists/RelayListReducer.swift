import Marmot
import Nostr

/// Publishing this account's relay lists (``RelayLists``).
extension CoreModel {
    /// Publishes the lists that have changed, or that no relay has confirmed yet.
    mutating func publishRelayLists(_ step: inout CoreStep) {
        for kind in [Kind.keyPackageRelays, .inboxRelays] { self.publishRelayList(kind, &step) }
    }

    mutating func publishRelayList(_ kind: Kind, _ step: inout CoreStep) {
        switch self.keyPackages.relayLists.publication(of: kind, naming: self.relays(ofList: kind)) {
        case .none: break
        case .send(let list): self.send(list, &step)
        case .sign: self.performKeyTask(.relayList(kind), &step)
        }
    }

    private func relays(ofList kind: Kind) -> [RelayURL] {
        kind == .inboxRelays ? self.configuration.relays : self.configuration.announcementRelays
    }

    func relayListDraft(_ kind: Kind, _ step: CoreStep) -> UnsignedEvent {
        self.keyPackages.relayLists.draft(
            kind, of: self.relays(ofList: kind), by: self.account.publicKey, now: step.now)
    }

    /// Replaces a list after the new one was signed.
    mutating func replaceRelayList(_ event: Event, _ step: inout CoreStep) {
        if let old = self.keyPackages.replaceRelayList(by: event, &step) {
            self.dropRow(Self.relayListRow(old), &step)
        }
        self.send(event, &step)
    }

    private mutating func send(_ list: Event, _ step: inout CoreStep) {
        let relays = self.configuration.homeRelays + self.keyPackages.relayLists.formerRelays
        self.announce(list, row: Self.relayListRow(list), to: relays, &step)
        self.enqueue(id: Self.relayListRow(list), list, to: relays, .relayList, &step)
    }

    private static func relayListRow(_ list: Event) -> String { "relay_list/\(list.id.hex)" }
}
