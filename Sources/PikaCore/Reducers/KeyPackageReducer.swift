import MLS
import Marmot
import Nostr

/// Own key packages: announced, replaced before they expire and after use, and finally deleted.
///
/// All share one slot, the `d` tag, so that a new kind 30443 replaces the old one. The old kind 443 is deleted (NIP-09)
/// once a relay has stored the new one, so that peers always find a key package.
extension CoreModel {
    /// Seconds before its expiry at which a key package is replaced.
    static let rotationMargin: Int64 = 14 * 86_400
    /// Seconds that private keys are kept after the last Welcome for them could be expected: gift wraps are back-dated
    /// by up to two days, and relays that were offline deliver late.
    static let keyRetention: Int64 = 4 * 86_400
    /// Seconds after the start before which no key package is deleted: old Welcomes may still be on relays.
    static let readingTime: Int64 = 3600
    /// Seconds after which a refused event may be too old for the relays, and is signed anew.
    private static let staleAge: Int64 = 3600

    /// Returns the newest package in use that is not due for rotation.
    func currentKeyPackage(_ now: Int64) -> StoredKeyPackage? {
        self.keyPackages.last {
            self.keyPackageRecords[$0.reference]?.retiredAt == nil
                && $0.notAfter.clampedSubtracting(now) > Self.rotationMargin
        }
    }

    /// Announces the current key package on request; nil if the outcome waits for the signer.
    mutating func publishKeyPackage(_ request: RequestID?, _ step: inout CoreStep) throws -> ActionOutcome? {
        try self.publishKeyPackage(&step)
        guard let request, let current = self.currentKeyPackage(step.now),
            self.signer.contains(.announce(current.reference))
        else { return .done(chatID: nil) }
        self.ask(.announce(current.reference), for: request, &step)
        return nil
    }

    /// Announces the current key package, or a fresh one if there is none, with the relay lists that lead to it.
    mutating func publishKeyPackage(_ step: inout CoreStep) throws {
        guard !self.configuration.announcementRelays.isEmpty else { return }
        self.state.keyPackage.begin()
        self.publishRelayLists(&step)
        if let current = self.currentKeyPackage(step.now) {
            try self.announce(current, &step)
        } else {
            try self.rotateKeyPackage(&step)
        }
    }

    /// Replaces all packages in use by a fresh one.
    mutating func rotateKeyPackage(_ step: inout CoreStep) throws {
        let old = self.keyPackages.filter { self.keyPackageRecords[$0.reference]?.retiredAt == nil }
        try self.announce(try self.makeKeyPackage(&step), &step)
        for package in old {
            var record = self.keyPackageRecords[package.reference] ?? KeyPackageRecord()
            record.retiredAt = step.now
            self.supersede(record.events, in: &record, &step)
            self.setRecord(record, of: package.reference, &step)
        }
    }

    /// Retires all packages at once, since another copy of this account has their private keys: peers must not use
    /// them.
    mutating func retireKeyPackages(_ step: inout CoreStep) {
        for package in self.keyPackages {
            var record = self.keyPackageRecords[package.reference] ?? KeyPackageRecord()
            guard record.retiredAt == nil else { continue }
            record.retiredAt = step.now
            let withdrawn = record.events + record.superseded
            record.superseded = []
            self.setRecord(record, of: package.reference, &step)
            self.withdrawEvents(withdrawn, &step)
        }
    }

    private mutating func makeKeyPackage(_ step: inout CoreStep) throws -> StoredKeyPackage {
        let bundle = try KeyPackageEvents.makeBundle(for: self.account.publicKey, now: step.now, using: &step.random)
        guard case .keyPackage(let lifetime) = bundle.keyPackage.leafNode.source else {
            preconditionFailure("a key package that was just made has a lifetime")
        }
        let slot = self.keyPackages.last?.slot ?? Hex.encode(Secret.random(count: 32, using: &step.random).copyBytes())
        let stored = StoredKeyPackage(
            reference: bundle.keyPackage.reference, bundle: bundle.stored, slot: slot, createdAt: step.now,
            notAfter: Int64(clamping: lifetime.notAfter))
        self.keyPackages.append(stored)
        step.changes.append(.putKeyPackage(stored))
        return stored
    }

    /// Sends a package's existing events, or signs new ones if they name other relays.
    private mutating func announce(_ package: StoredKeyPackage, _ step: inout CoreStep) throws {
        let record = self.keyPackageRecords[package.reference] ?? KeyPackageRecord()
        let relays = self.configuration.announcementRelays.map(\.string)
        let isCurrent = record.events.allSatisfy { Array($0.firstTag("relays")?.values.dropFirst() ?? []) == relays }
        if record.events.isEmpty || !isCurrent {
            try self.attempt(.announce(package.reference), &step)
        } else {
            self.send(record.events, &step)
        }
    }

    /// Announces a package again if its events name other relays than the configured ones.
    mutating func announceAgain(_ reference: [UInt8], _ step: inout CoreStep) throws {
        guard let package = self.keyPackages.first(where: { $0.reference == reference }),
            let record = self.keyPackageRecords[reference], record.retiredAt == nil, !record.events.isEmpty
        else { return }
        try self.announce(package, &step)
    }

    /// The events that announce a package; nil if it is no longer in use.
    func announcement(of reference: [UInt8], _ step: CoreStep) throws -> [UnsignedEvent]? {
        guard let package = self.keyPackages.first(where: { $0.reference == reference }),
            self.keyPackageRecords[reference]?.retiredAt == nil
        else { return nil }
        // Dated after the last one: of two events of the same second, relays keep the one with the lower id.
        let last = self.keyPackageRecords.values.flatMap { $0.events + $0.superseded }.map(\.createdAt).max()
        let bundle = try KeyPackageBundle(stored: package.bundle)
        let drafts = KeyPackageEvents.drafts(
            for: bundle.keyPackage, slot: package.slot, relays: self.configuration.announcementRelays,
            client: self.configuration.client, by: self.account.publicKey,
            now: max(step.now, (last ?? 0).clampedAdding(1)))
        return [drafts.addressable, drafts.legacy]
    }

    /// Announces a package with its signed events, which replace its earlier ones.
    mutating func announce(_ events: [Event], of reference: [UInt8], _ step: inout CoreStep) {
        var record = self.keyPackageRecords[reference] ?? KeyPackageRecord()
        guard record.retiredAt == nil, self.keyPackages.contains(where: { $0.reference == reference }) else { return }
        self.supersede(record.events, in: &record, &step)
        record.events = events
        self.setRecord(record, of: reference, &step)
        self.send(events, &step)
    }

    private mutating func send(_ events: [Event], _ step: inout CoreStep) {
        let relays = self.configuration.announcementRelays
        for event in events {
            let row = Self.keyPackageRow(event.id)
            self.announce(event, row: row, to: relays, &step)
            if self.queue.contains(where: { $0.id == row }) { continue }
            // Replaces the background sending of an earlier announcement.
            self.dropRow(row, &step)
            self.enqueue(id: row, event, to: relays, .keyPackage, &step)
        }
    }

    /// Adds an event to the current announcement; a row waiting for its next attempt becomes due at once.
    mutating func announce(_ event: Event, row: String, to relays: [RelayURL], _ step: inout CoreStep) {
        let isUnderWay = self.queue.attemptBegan(row) != nil
        self.state.keyPackage.expect(event, from: relays, isUnderWay: isUnderWay)
        if self.queue.hurry(row: row) { self.flushOutbox(&step) }
    }

    private static func keyPackageRow(_ event: EventID) -> String { "key_package/\(event.hex)" }

    /// Stops sending events, and marks the kind 443 among them for ``withdrawSuperseded(by:_:)``.
    private mutating func supersede(_ events: [Event], in record: inout KeyPackageRecord, _ step: inout CoreStep) {
        for event in events {
            self.dropRow(Self.keyPackageRow(event.id), &step)
            if event.kind == .keyPackage, !record.superseded.contains(event) { record.superseded.append(event) }
        }
    }

    /// Deletes the superseded kind 443 events from the relays, once a relay has stored the current one.
    mutating func withdrawSuperseded(by event: Event, _ step: inout CoreStep) {
        let isPresent = self.keyPackageRecords.values.contains { $0.retiredAt == nil && $0.events.contains(event) }
        guard event.kind == .keyPackage, isPresent else { return }
        var withdrawn: [Event] = []
        for (reference, var record) in self.keyPackageRecords where !record.superseded.isEmpty {
            withdrawn += record.superseded
            record.superseded = []
            self.setRecord(record, of: reference, &step)
        }
        self.withdrawEvents(withdrawn.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }, &step)
    }

    /// Removes announcements from the outbox, and kind 443 from the relays.
    private mutating func withdrawEvents(_ events: [Event], _ step: inout CoreStep) {
        for event in events { self.dropRow(Self.keyPackageRow(event.id), &step) }
        let legacy = events.filter { $0.kind == .keyPackage }
        guard !legacy.isEmpty else { return }
        let stated = legacy.flatMap { (try? KeyPackageEvents.relays(of: $0)) ?? [] }
        var seen: Set<RelayURL> = []
        let relays = (self.configuration.announcementRelays + stated).filter { seen.insert($0).inserted }
        self.use(.delete(legacy.map(\.id), at: relays), &step)
    }

    private mutating func setRecord(
        _ record: KeyPackageRecord?, of reference: [UInt8], _ step: inout CoreStep
    ) {
        self.keyPackageRecords[reference] = record
        step.changes.append(.putMemo(MemoName(.keyPackage, reference), record?.memo))
    }

    /// Marks a package as used by a join, and rotates it: others must use another one from now on (MIP-00).
    mutating func consume(_ package: StoredKeyPackage, _ step: inout CoreStep) {
        var record = self.keyPackageRecords[package.reference] ?? KeyPackageRecord()
        if record.usedAt == nil {
            record.usedAt = step.now
            self.setRecord(record, of: package.reference, &step)
        }
        guard record.retiredAt == nil, !record.events.isEmpty else { return }
        self.tryRotation(&step)
    }

    private mutating func tryRotation(_ step: inout CoreStep) {
        self.state.keyPackage.begin()
        do { try self.rotateKeyPackage(&step) } catch {
            step.effects.append(.note(.sendFailed(reason: "key package: \(error)")))
        }
    }

    /// Signs an announcement anew if every relay refused it and it may be too old for them.
    mutating func replaceRefusedKeyPackage(_ event: Event, _ step: inout CoreStep) {
        guard step.now.clampedSubtracting(event.createdAt) >= Self.staleAge,
            let package = self.currentKeyPackage(step.now),
            var record = self.keyPackageRecords[package.reference], record.events.contains(event)
        else { return }
        self.supersede(record.events, in: &record, &step)
        record.events = []
        self.setRecord(record, of: package.reference, &step)
        do { try self.announce(package, &step) } catch {
            step.effects.append(.note(.sendFailed(reason: "key package: \(error)")))
        }
    }

    // MARK: Maintenance

    /// Replaces a package that is near its expiry.
    mutating func rotateDueKeyPackage(_ step: inout CoreStep) {
        if self.isKeyPackageAnnounced, self.currentKeyPackage(step.now) == nil { self.tryRotation(&step) }
    }

    var isKeyPackageAnnounced: Bool {
        self.keyPackageRecords.values.contains { $0.retiredAt == nil && !$0.events.isEmpty }
    }

    /// Deletes private keys for which no further Welcome is expected.
    mutating func forgetKeyPackages(_ step: inout CoreStep) {
        guard self.hasReadWelcomes(step.now) else { return }
        let awaited = self.invitedReferences
        for package in self.keyPackages {
            let record = self.keyPackageRecords[package.reference]
            // A used package is kept no longer than needed; of an unused one, peers may hold copies.
            let isSpent = record?.usedAt != nil && !awaited.contains(package.reference)
            let end = isSpent ? record?.retiredAt ?? package.notAfter : package.notAfter
            guard step.now - end > Self.keyRetention else { continue }
            self.keyPackages.removeAll { $0.reference == package.reference }
            step.changes.append(.deleteKeyPackage(reference: package.reference))
            self.withdrawEvents(record?.superseded ?? [], &step)
            self.setRecord(nil, of: package.reference, &step)
        }
    }

    /// Whether events that arrived while this account was away have been read.
    private func hasReadWelcomes(_ now: Int64) -> Bool {
        let connected = self.state.relays.filter { $0.connection == .connected }
        return now - self.startedAt >= Self.readingTime && !connected.isEmpty && connected.allSatisfy(\.isCaughtUp)
    }

    /// The references of packages that open invitations use.
    private var invitedReferences: Set<[UInt8]> {
        var references: Set<[UInt8]> = []
        for invite in self.invites.values {
            guard let invitation = try? WelcomeEvents.read(invite.rumor) else { continue }
            references.formUnion(invitation.welcome.secrets.map(\.newMember))
        }
        return references
    }
}
