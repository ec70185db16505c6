import MLS
import Marmot
import Nostr

/// This account's key packages, and the published relay lists by which others find them. A key package is announced,
/// replaced before it expires or after its use, and finally deleted.
///
/// All of them share one slot, the `d` tag, so that a new kind 30443 replaces the old one. The old kind 443 is deleted
/// (NIP-09) once a relay has stored the new one, so that peers always find a key package.
///
/// Methods that stop the use of announcements return their events: the caller removes them from the outbox.
struct KeyPackages: Sendable {
    /// Seconds before its expiry at which a key package is replaced.
    static let rotationMargin: Int64 = 14 * 86_400
    /// Seconds that private keys are kept after the last Welcome for them could be expected: gift wraps are back-dated
    /// by up to two days, and relays that were offline deliver late.
    static let keyRetention: Int64 = 4 * 86_400
    /// Seconds after the start before which no key package is deleted: old Welcomes may still be on relays.
    static let readingTime: Int64 = 3600
    /// Seconds after which a refused event may be too old for the relays, and is signed again.
    private static let staleAge: Int64 = 3600

    /// The stored packages, oldest first.
    private var packages: [StoredKeyPackage] = []
    /// The announcement of each, by key package reference.
    private var records: [[UInt8]: KeyPackageRecord] = [:]
    /// The time at which the core started.
    private var startedAt: UnixTime = 0
    /// Changed only by the methods below.
    private(set) var relayLists = RelayLists()

    init(_ stored: [StoredKeyPackage] = []) {
        self.packages = stored
    }

    /// Restores an announcement; false if the memo is unreadable.
    mutating func restore(_ reference: [UInt8], _ memo: Secret) -> Bool {
        self.records[reference] = KeyPackageRecord(memo: memo)
        return self.records[reference] != nil
    }

    mutating func start(at now: UnixTime) { self.startedAt = now }

    // MARK: Queries

    var references: [[UInt8]] { self.packages.map(\.reference) }
    var announcements: [KeyPackageRecord] { Array(self.records.values) }

    /// Returns the newest package in use that is not due for rotation.
    func current(_ now: UnixTime) -> StoredKeyPackage? {
        self.packages.last {
            self.records[$0.reference]?.retiredAt == nil
                && $0.notAfter.seconds(since: now) > Self.rotationMargin
        }
    }

    /// The newest package in use that was announced.
    var announced: StoredKeyPackage? {
        self.packages.last { self.records[$0.reference].map { $0.retiredAt == nil && !$0.events.isEmpty } ?? false }
    }

    var isAnnounced: Bool { self.records.values.contains { $0.retiredAt == nil && !$0.events.isEmpty } }

    /// Returns the package that a Welcome was made for.
    func package(for invitation: WelcomeEvents.Invitation) -> StoredKeyPackage? {
        let references = Set(invitation.welcome.secrets.map(\.newMember))
        return self.packages.first { references.contains($0.reference) }
    }

    /// Returns the events of a package; empty if they have to be signed, because there are none or they name other
    /// relays.
    func events(of package: StoredKeyPackage, naming relays: [RelayURL]) -> [Event] {
        let events = self.records[package.reference]?.events ?? []
        let relays = relays.map(\.string)
        let isCurrent = events.allSatisfy { Array($0.firstTag("relays")?.values.dropFirst() ?? []) == relays }
        return isCurrent ? events : []
    }

    /// Returns a package that is in use and was announced.
    func announced(_ reference: [UInt8]) -> StoredKeyPackage? {
        guard let record = self.records[reference], record.retiredAt == nil, !record.events.isEmpty else { return nil }
        return self.packages.first { $0.reference == reference }
    }

    /// Returns a package that is in use.
    private func inUse(_ reference: [UInt8]) -> StoredKeyPackage? {
        guard self.records[reference]?.retiredAt == nil else { return nil }
        return self.packages.first { $0.reference == reference }
    }

    /// Drafts the events that announce a package; nil if it is no longer in use.
    func drafts(
        of reference: [UInt8], _ configuration: CoreConfiguration, by account: PublicKey, now: UnixTime
    ) throws -> [UnsignedEvent]? {
        guard let package = self.inUse(reference) else { return nil }
        // Dated after the last one: of two events of the same second, relays keep the one with the lower id.
        let last = self.records.values.flatMap { $0.events + $0.superseded }.map(\.createdAt).max()
        let bundle = try KeyPackageBundle(stored: package.bundle)
        let drafts = KeyPackageEvents.drafts(
            for: bundle.keyPackage, slot: package.slot, relays: configuration.announcementRelays,
            client: configuration.client, by: account, now: max(now, (last ?? 0) + 1))
        return [drafts.addressable, drafts.legacy]
    }

    // MARK: Changes

    /// Creates and stores a package.
    mutating func make(for account: PublicKey, _ step: inout CoreStep) throws -> StoredKeyPackage {
        let bundle = try KeyPackageEvents.makeBundle(for: account, now: step.now, using: &step.random)
        guard case .keyPackage(let lifetime) = bundle.keyPackage.leafNode.source else {
            preconditionFailure("a new key package must have a lifetime")
        }
        let slot = self.packages.last?.slot ?? Hex.encode(Secret.random(count: 32, using: &step.random).copyBytes())
        let stored = StoredKeyPackage(
            reference: bundle.keyPackage.reference, bundle: bundle.stored, slot: slot, createdAt: step.now,
            notAfter: UnixTime(Int64(clamping: lifetime.notAfter)))
        self.packages.append(stored)
        step.changes.append(.putKeyPackage(stored))
        return stored
    }

    /// Records the signed events of a package. Returns the events that they replace; nil if it is no longer in use.
    mutating func announce(_ events: [Event], of reference: [UInt8], _ step: inout CoreStep) -> [Event]? {
        guard self.inUse(reference) != nil else { return nil }
        var record = self.records[reference] ?? KeyPackageRecord()
        let replaced = record.supersede()
        record.events = events
        self.set(record, of: reference, &step)
        return replaced
    }

    /// Retires every package in use except one. Returns the events that announced them.
    mutating func retireAll(except package: StoredKeyPackage, _ step: inout CoreStep) -> [Event] {
        var retired: [Event] = []
        for old in self.packages where old.reference != package.reference {
            var record = self.records[old.reference] ?? KeyPackageRecord()
            guard record.retiredAt == nil else { continue }
            record.retiredAt = step.now
            retired += record.supersede(keepsEvents: true)
            self.set(record, of: old.reference, &step)
        }
        return retired
    }

    /// Retires all packages at once, since another copy of this account has their private keys: peers must not use
    /// them. Returns the events of each, to be deleted from the relays.
    mutating func withdrawAll(_ step: inout CoreStep) -> [[Event]] {
        var withdrawn: [[Event]] = []
        for package in self.packages {
            var record = self.records[package.reference] ?? KeyPackageRecord()
            guard record.retiredAt == nil else { continue }
            record.retiredAt = step.now
            withdrawn.append(record.events + record.superseded)
            record.superseded = []
            self.set(record, of: package.reference, &step)
        }
        return withdrawn
    }

    /// Returns the superseded kind 443 events, to be deleted from the relays, if `event` is the current one.
    mutating func withdrawSuperseded(by event: Event, _ step: inout CoreStep) -> [Event] {
        let isPresent = self.records.values.contains { $0.retiredAt == nil && $0.events.contains(event) }
        guard event.kind == .keyPackage, isPresent else { return [] }
        var withdrawn: [Event] = []
        for (reference, var record) in self.records where !record.superseded.isEmpty {
            withdrawn += record.superseded
            record.superseded = []
            self.set(record, of: reference, &step)
        }
        return withdrawn.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Marks a package as used by a join. Returns whether it must be rotated, because others must not use it again
    /// (MIP-00).
    mutating func consume(_ package: StoredKeyPackage, _ step: inout CoreStep) -> Bool {
        var record = self.records[package.reference] ?? KeyPackageRecord()
        if record.usedAt == nil {
            record.usedAt = step.now
            self.set(record, of: package.reference, &step)
        }
        return record.retiredAt == nil && !record.events.isEmpty
    }

    /// Removes the events of the current package if every relay refused one of them and it may be too old for them.
    /// Returns the package and its former events; nil if nothing has to be signed.
    mutating func dropRefused(
        _ event: Event, _ step: inout CoreStep
    ) -> (package: StoredKeyPackage, events: [Event])? {
        guard step.now.seconds(since: event.createdAt) >= Self.staleAge, let package = self.current(step.now),
            var record = self.records[package.reference], record.events.contains(event)
        else { return nil }
        let refused = record.supersede()
        self.set(record, of: package.reference, &step)
        return (package, refused)
    }

    /// Whether enough time has passed since the start to read the events that arrived while this account was offline.
    func mayExpire(_ now: UnixTime) -> Bool { now.seconds(since: self.startedAt) >= Self.readingTime }

    /// Deletes private keys for which no further Welcome is expected. Returns the events of each package, to be deleted
    /// from the relays.
    ///
    /// - Parameter awaited: the references of packages that open invitations use.
    mutating func deleteExpired(awaited: Set<[UInt8]>, _ step: inout CoreStep) -> [[Event]] {
        var withdrawn: [[Event]] = []
        for package in self.packages {
            let record = self.records[package.reference]
            // Delete a used package early, but keep an unused one: peers may have copies of it.
            let isSpent = record?.usedAt != nil && !awaited.contains(package.reference)
            let end = isSpent ? record?.retiredAt ?? package.notAfter : package.notAfter
            guard step.now.seconds(since: end) > Self.keyRetention else { continue }
            self.packages.removeAll { $0.reference == package.reference }
            step.changes.append(.deleteKeyPackage(reference: package.reference))
            withdrawn.append(record?.superseded ?? [])
            self.set(nil, of: package.reference, &step)
        }
        return withdrawn
    }

    // MARK: Relay lists

    /// Restores a relay list; false if the memo is unreadable.
    mutating func restoreRelayList(_ memo: Secret) -> Bool { self.relayLists.restore(memo) }

    mutating func restore(_ list: RelayListRecord) { self.relayLists.restore(list) }

    /// Remembers the relays that were configured before: they hold this account's old lists.
    mutating func changeRelays(from old: [RelayURL], to new: [RelayURL]) {
        self.relayLists.changeRelays(from: old, to: new)
    }

    /// Replaces a relay list by a signed one; returns the old one.
    mutating func replaceRelayList(by event: Event, _ step: inout CoreStep) -> Event? {
        self.relayLists.replace(by: event, &step)
    }

    /// Records that a relay has a relay list.
    mutating func confirmRelayList(_ event: Event, _ step: inout CoreStep) { self.relayLists.confirm(event, &step) }

    private mutating func set(_ record: KeyPackageRecord?, of reference: [UInt8], _ step: inout CoreStep) {
        self.records[reference] = record
        step.changes.append(.putMemo(MemoName(.keyPackage, reference), record?.memo))
    }
}

extension KeyPackageRecord {
    /// Marks the kind 443 among its events for deletion, and returns all of them.
    ///
    /// - Parameter keepsEvents: whether the record still names them.
    fileprivate mutating func supersede(keepsEvents: Bool = false) -> [Event] {
        let events = self.events
        for event in events where event.kind == .keyPackage && !self.superseded.contains(event) {
            self.superseded.append(event)
        }
        if !keepsEvents { self.events = [] }
        return events
    }
}
