import Marmot
import Nostr

/// The lists of the relays that have this account's key packages and on which it reads Welcomes: kinds 10051 and 10050.
extension CoreModel {
    /// Publishes the lists that have changed, or that no relay has confirmed yet.
    mutating func publishRelayLists(_ step: inout CoreStep) {
        for kind in [Kind.keyPackageRelays, .inboxRelays] { self.publishRelayList(kind, &step) }
    }

    mutating func publishRelayList(_ kind: Kind, _ step: inout CoreStep) {
        let relays = self.relays(ofList: kind)
        let known = self.relayLists[kind]
        if let known, known.event.relayTags.map(\.string) == relays.map(\.string) {
            if !known.isConfirmed { self.send(known.event, &step) }
            return
        }
        self.use(.relayList(kind), &step)
    }

    private func relays(ofList kind: Kind) -> [RelayURL] {
        kind == .inboxRelays ? self.configuration.relays : self.configuration.announcementRelays
    }

    func relayListDraft(_ kind: Kind, _ step: CoreStep) -> UnsignedEvent {
        // Dated after the last one: of two lists of the same second, relays keep the one with the lower id.
        let time = max(step.now, (self.relayLists[kind]?.event.createdAt ?? 0).clampedAdding(1))
        return RelayListEvents.draft(
            kind, relays: self.relays(ofList: kind), by: self.account.publicKey, now: time)
    }

    /// Replaces a list after the new one was signed.
    mutating func replaceRelayList(_ event: Event, _ step: inout CoreStep) {
        if let known = self.relayLists[event.kind] { self.dropRow(Self.relayListRow(known.event), &step) }
        self.setRelayList(RelayListRecord(event: event), &step)
        self.send(event, &step)
    }

    private mutating func send(_ list: Event, _ step: inout CoreStep) {
        let relays = self.configuration.homeRelays + self.formerRelays
        self.announce(list, row: Self.relayListRow(list), to: relays, &step)
        self.enqueue(id: Self.relayListRow(list), list, to: relays, .relayList, &step)
    }

    private static func relayListRow(_ list: Event) -> String { "relay_list/\(list.id.hex)" }

    private mutating func setRelayList(_ record: RelayListRecord, _ step: inout CoreStep) {
        let kind = record.event.kind
        self.relayLists[kind] = record
        let key = [UInt8(truncatingIfNeeded: kind.rawValue >> 8), UInt8(truncatingIfNeeded: kind.rawValue)]
        step.changes.append(.putMemo(MemoName(.relayList, key), record.memo))
    }

    mutating func confirmRelayList(_ event: Event, _ step: inout CoreStep) {
        guard var record = self.relayLists[event.kind], record.event.id == event.id, !record.isConfirmed else { return }
        record.isConfirmed = true
        self.setRelayList(record, &step)
    }
}
