import MLS
import Marmot
import Nostr

/// The relay lists by which others find this account: 10051 with its key packages of the first generation, 10002
/// (NIP-65) with those of the second, and 10050 on which it reads Welcomes.
///
/// Other programs write the list 10002 too, for all of an account's events. So each process reads it before it writes it,
/// and the relays of others stay in it. If a program has replaced it by one without this account's relays, it is written
/// again: peers would find no key package.
struct RelayLists: Sendable {
    /// The kinds of the lists, in the order of their publication.
    static let kinds: [Kind] = [.keyPackageRelays, .inboxRelays, .relayList]
    /// The maximum number of relays of other programs that are kept.
    static let maximumOthers = 64

    private var records: [Kind: RelayListRecord] = [:]
    /// Whether a relay has answered which list 10002 it has.
    private var isRead = false
    /// The newest list 10002 by another program.
    private var foreign: Event?
    /// Its `r` tags.
    private var others: [Tag] = []
    /// The relays of other programs to which this process has last offered what they lead to.
    private var offered: [RelayURL] = []
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

    /// Returns the action that publishes a list of the configured relays.
    func publication(of kind: Kind, _ configuration: CoreConfiguration) -> Publication {
        let mayWrite = kind != .relayList || self.isRead
        guard let known = self.records[kind] else { return mayWrite ? .sign : .none }
        if kind == .relayList, let foreign, Self.replaces(foreign, known.event) {
            // Relays have the other program's list instead of the known one.
            return !mayWrite || Self.names(foreign, configuration) ? .none : .sign
        }
        guard known.event.tags == self.content(kind, configuration, by: known.event.pubkey, now: 0).tags else {
            return mayWrite ? .sign : .none
        }
        return known.isConfirmed ? .none : .send(known.event)
    }

    /// Whether relays replace `other` by this list (NIP-01).
    private static func replaces(_ list: Event, _ other: Event) -> Bool {
        (list.createdAt, other.id) > (other.createdAt, list.id)
    }

    /// Whether a list 10002 contains the configured relays with the right markers.
    private static func names(_ event: Event, _ configuration: CoreConfiguration) -> Bool {
        guard let list = try? RelayList(event) else { return false }
        return configuration.announcementRelays.allSatisfy(list.write.contains)
            && configuration.relays.allSatisfy(list.read.contains)
    }

    /// Returns a list of the configured relays. Key packages of the second generation are searched on the relays that
    /// their author writes to.
    private func content(
        _ kind: Kind, _ configuration: CoreConfiguration, by account: PublicKey, now: UnixTime
    ) -> UnsignedEvent {
        switch kind {
        case .relayList:
            let own = RelayList(read: configuration.relays, write: configuration.announcementRelays)
            var list = own.unsigned(by: account, now: now)
            list.tags += self.others.filter { tag in
                tag.value.flatMap { try? RelayURL($0) }.map { !configuration.homeRelays.contains($0) } ?? true
            }
            return list
        case .inboxRelays: return RelayListEvents.draft(kind, relays: configuration.relays, by: account, now: now)
        default: return RelayListEvents.draft(kind, relays: configuration.announcementRelays, by: account, now: now)
        }
    }

    // MARK: The list of NIP-65

    /// Notes a list 10002 of this account on a relay. If another program wrote it after this one's last list, its relays
    /// are kept.
    mutating func note(_ event: Event) {
        let known = [self.records[.relayList]?.event, self.foreign].compactMap { $0 }
        guard event.kind == .relayList, (try? event.verify()) != nil,
            known.allSatisfy({ Self.replaces(event, $0) })
        else { return }
        self.foreign = event
        self.others = Array(event.tags(named: "r").prefix(Self.maximumOthers))
    }

    /// Records that a relay has answered which list 10002 it has: it may be written from here on.
    mutating func endReading() { self.isRead = true }

    /// Restores a list; false if the memo is unreadable.
    mutating func restore(_ memo: Secret) -> Bool {
        guard let record = RelayListRecord(memo: memo) else { return false }
        self.restore(record)
        return true
    }

    mutating func restore(_ record: RelayListRecord) {
        self.records[record.event.kind] = record
        if record.event.kind == .relayList { self.others = record.others }
    }

    mutating func changeRelays(from old: [RelayURL], to new: [RelayURL]) {
        self.formerRelays = (self.formerRelays + old.filter { !self.formerRelays.contains($0) })
            .filter { !new.contains($0) }
    }

    /// Returns the relays to which the newest list of an account says that it writes (NIP-65): where its key packages of
    /// the second generation are. Relays with an unknown marker do not count, as in MDK. The caller has verified the
    /// events.
    static func writeRelays(of account: PublicKey, in events: some Sequence<Event>) -> [RelayURL] {
        let lists = events.lazy.filter { $0.kind == .relayList && $0.pubkey == account }
        let newest = lists.min { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
        return self.writeRelays(in: newest?.tags(named: "r") ?? [])
    }

    private static func writeRelays(in tags: [Tag]) -> [RelayURL] {
        var relays: [RelayURL] = []
        for tag in tags {
            let marker = tag.values.count > 2 ? tag.values[2] : ""
            guard ["", "write"].contains(marker), let relay = tag.value.flatMap({ try? RelayURL($0) }),
                !relays.contains(relay)
            else { continue }
            relays.append(relay)
        }
        return relays
    }

    /// Returns the relays to which other programs of this account write: peers that know the list 10002 may ask only them.
    /// As many as are used from a peer's list.
    func otherWriteRelays(_ configuration: CoreConfiguration) -> [RelayURL] {
        let relays = Self.writeRelays(in: self.others).filter { !configuration.homeRelays.contains($0) }
        return Array(relays.prefix(configuration.maximumPeerRelays))
    }

    /// Records an offer to relays of other programs. Returns whether it is the first to them in this process.
    mutating func noteOffer(to relays: [RelayURL]) -> Bool {
        defer { self.offered = relays }
        return relays != self.offered
    }

    func draft(
        _ kind: Kind, _ configuration: CoreConfiguration, by account: PublicKey, now: UnixTime
    ) -> UnsignedEvent {
        // Dated after the last one: of two lists of the same second, relays keep the one with the lower id.
        let events = [self.records[kind]?.event, kind == .relayList ? self.foreign : nil]
        let last = events.compactMap { $0?.createdAt }.max() ?? 0
        return self.content(kind, configuration, by: account, now: max(now, last + 1))
    }

    /// Replaces a list by a signed one; returns the old one.
    mutating func replace(by event: Event, _ step: inout CoreStep) -> Event? {
        let old = self.records[event.kind]?.event
        self.set(RelayListRecord(event: event, others: event.kind == .relayList ? self.others : []), &step)
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
