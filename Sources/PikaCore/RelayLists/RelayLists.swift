import MLS
import Marmot
import Nostr

/// The lists of the relays that have this account's key packages and on which it reads Welcomes: kinds 10051 and 10050.
struct RelayLists: Sendable {
    private var records: [Kind: RelayListRecord] = [:]
    /// Relays that were configured earlier in this process: they hold this account's old lists.
    private(set) var formerRelays: [RelayURL] = []

    var isEmpty: Bool { self.records.isEmpty }

    subscript(kind: Kind) -> RelayListRecord? { self.records[kind] }

    /// The action that publishes a list.
    enum Publication: Sendable, Hashable {
        /// Nothing to do: a relay has the list.
        case none
        /// No relay has confirmed the signed list yet.
        case send(Event)
        /// The list names other relays, or does not exist.
        case sign
    }

    /// Returns the action that publishes a list of these relays.
    func publication(of kind: Kind, naming relays: [RelayURL]) -> Publication {
        guard let known = self.records[kind], known.event.relayTags.map(\.string) == relays.map(\.string) else {
            return .sign
        }
        return known.isConfirmed ? .none : .send(known.event)
    }

    /// Restores a list; false if the memo is unreadable.
    mutating func restore(_ memo: Secret) -> Bool {
        guard let record = RelayListRecord(memo: memo) else { return false }
        self.restore(record)
        return true
    }

    mutating func restore(_ record: RelayListRecord) { self.records[record.event.kind] = record }

    mutating func changeRelays(from old: [RelayURL], to new: [RelayURL]) {
        self.formerRelays = (self.formerRelays + old.filter { !self.formerRelays.contains($0) })
            .filter { !new.contains($0) }
    }

    func draft(_ kind: Kind, of relays: [RelayURL], by account: PublicKey, now: UnixTime) -> UnsignedEvent {
        // Dated after the last one: of two lists of the same second, relays keep the one with the lower id.
        let last = self.records[kind]?.event.createdAt ?? 0
        return RelayListEvents.draft(kind, relays: relays, by: account, now: max(now, last + 1))
    }

    /// Replaces a list by a signed one; returns the old one.
    mutating func replace(by event: Event, _ step: inout CoreStep) -> Event? {
        let old = self.records[event.kind]?.event
        self.set(RelayListRecord(event: event), &step)
        return old
    }

    /// Records that a relay has a list.
    mutating func confirm(_ event: Event, _ step: inout CoreStep) {
        guard var record = self.records[event.kind], record.event.id == event.id, !record.isConfirmed else { return }
        record.isConfirmed = true
        self.set(record, &step)
    }

    private mutating func set(_ record: RelayListRecord, _ step: inout CoreStep) {
        let kind = record.event.kind
        self.records[kind] = record
        let key = [UInt8(truncatingIfNeeded: kind.rawValue >> 8), UInt8(truncatingIfNeeded: kind.rawValue)]
        step.changes.append(.putMemo(MemoName(.relayList, key), record.memo))
    }
}
