import MLS
import Marmot
import Nostr

/// Announces, rotates and deletes this account's key packages of both generations (``KeyPackages``).
extension CoreModel {
    // MARK: The device's key

    /// Requests the account's proof of the device's key, unless it exists; a remote signer answers later.
    mutating func proveDevice(_ step: inout CoreStep) {
        if self.keyPackages.device.key == nil { self.performKeyTask(.proveDevice, &step) }
    }

    /// Stores the device's key with its signed proof, and continues the key package and new groups that waited for it.
    mutating func applyProof(_ event: Event, _ step: inout CoreStep) throws {
        let isAwaited = try self.keyPackages.device.prove(with: event, &step)
        self.intents.resume(.notYetCreated)
        if isAwaited { try self.publishKeyPackage(.v2, &step) }
    }

    /// Records that the signer did not prove the device's key: key packages and new groups of the second generation do
    /// not wait for it any longer. It is asked again with the next announcement.
    mutating func noteUnproven(_ reason: String, _ step: inout CoreStep) {
        self.keyPackages.device.refuse(reason)
        self.intents.resume(.notYetCreated)
        step.effects.append(.note(.sendFailed(reason: "proof of this device's key: \(reason)")))
    }

    // MARK: Announcing

    /// Announces the current key packages on request; nil if the outcome waits for the signer.
    mutating func publishKeyPackage(_ request: RequestID?, _ step: inout CoreStep) throws -> ActionOutcome? {
        try self.publishKeyPackage(&step)
        let tasks = GroupGeneration.allCases.compactMap { generation in
            self.keyPackages.current(generation, at: step.now).map { KeyTask.announce($0.reference) }
        }
        // The last one: the signer is asked in this order.
        let pending = ([.proveDevice] + tasks).last { self.signer.contains($0) }
        guard let request, let task = pending else { return .done(chatID: nil) }
        self.ask(task, for: request, &step)
        return nil
    }

    /// Announces the current key package of each generation, or a fresh one if absent, with the relay lists by which
    /// peers find them.
    mutating func publishKeyPackage(_ step: inout CoreStep) throws {
        guard !self.configuration.announcementRelays.isEmpty else { return }
        self.state.keyPackage.begin()
        self.publishRelayLists(&step)
        for generation in GroupGeneration.allCases { try self.publishKeyPackage(generation, &step) }
    }

    private mutating func publishKeyPackage(_ generation: GroupGeneration, _ step: inout CoreStep) throws {
        if let current = self.keyPackages.current(generation, at: step.now) {
            try self.announce(current, &step)
        } else {
            try self.rotateKeyPackage(generation, &step)
        }
    }

    /// Replaces all packages of a generation in use by a fresh one.
    private mutating func rotateKeyPackage(_ generation: GroupGeneration, _ step: inout CoreStep) throws {
        guard let package = try self.keyPackages.make(generation, for: self.account.publicKey, &step) else {
            self.keyPackages.device.expectPackage()
            return try self.tryKeyTask(.proveDevice, &step)
        }
        try self.announce(package, &step)
        self.dropRows(of: self.keyPackages.retireAll(except: package, &step), &step)
    }

    /// Retires all packages at once after a restore.
    mutating func retireKeyPackages(_ step: inout CoreStep) {
        for events in self.keyPackages.withdrawAll(&step) { self.withdraw(events, &step) }
    }

    /// Sends a package's existing events, or signs new ones if they name other relays.
    private mutating func announce(_ package: StoredKeyPackage, _ step: inout CoreStep) throws {
        let events = self.keyPackages.events(of: package, naming: self.configuration.announcementRelays)
        if events.isEmpty {
            try self.tryKeyTask(.announce(package.reference), &step)
        } else {
            self.send(events, &step)
        }
    }

    /// Announces a package again if its events name other relays than the configured ones.
    mutating func announceAgain(_ reference: [UInt8], _ step: inout CoreStep) throws {
        if let package = self.keyPackages.announced(reference) { try self.announce(package, &step) }
    }

    /// Announces a package with its signed events, which replace its earlier ones.
    mutating func announce(_ events: [Event], of reference: [UInt8], _ step: inout CoreStep) {
        guard let replaced = self.keyPackages.announce(events, of: reference, &step) else { return }
        self.dropRows(of: replaced, &step)
        self.send(events, &step)
    }

    private mutating func send(_ events: [Event], _ step: inout CoreStep) {
        let relays = self.configuration.announcementRelays
        for event in events {
            let row = Self.keyPackageRow(event.id)
            let isQueued = self.delivery.queue.contains { $0.id == row && Set($0.relays) == Set(relays) }
            // Replaces an earlier announcement that goes to other relays, or that one relay has accepted.
            if !isQueued { self.dropRow(row, &step) }
            self.announce(event, row: row, to: relays, &step)
            if !isQueued { self.enqueue(id: row, event, to: relays, .keyPackage, &step) }
        }
        self.offer(events.filter { GroupGeneration(announcedBy: $0) == .v2 }, &step)
    }

    /// Adds an event to the current announcement; a row waiting for its next attempt becomes due at once.
    mutating func announce(_ event: Event, row: String, to relays: [RelayURL], _ step: inout CoreStep) {
        let isUnderWay = self.delivery.queue.attemptBegan(row) != nil
        self.state.keyPackage.expect(event, from: relays, isUnderWay: isUnderWay)
        if self.delivery.makeDue(row: row) { self.flushOutbox(&step) }
    }

    private static func keyPackageRow(_ event: EventID) -> String { "key_package/\(event.hex)" }

    private mutating func dropRows(of events: [Event], _ step: inout CoreStep) {
        for event in events {
            self.dropRow(Self.keyPackageRow(event.id), &step)
            self.dropRow(Self.offerRow(event.id), &step)
        }
    }

    /// Deletes the superseded events of the first generation from the relays, once a relay has stored the current one.
    mutating func withdrawSuperseded(by event: Event, _ step: inout CoreStep) {
        self.withdraw(self.keyPackages.withdrawSuperseded(by: event, &step), &step)
    }

    /// Removes announcements from the outbox, and those of the first generation from the relays.
    private mutating func withdraw(_ events: [Event], _ step: inout CoreStep) {
        self.dropRows(of: events, &step)
        let first = events.filter { GroupGeneration(announcedBy: $0) == .v1 }
        guard !first.isEmpty else { return }
        let stated = first.flatMap { (try? KeyPackageEvents.relays(of: $0)) ?? [] }
        var seen: Set<RelayURL> = []
        let relays = (self.configuration.announcementRelays + stated).filter { seen.insert($0).inserted }
        let legacy = first.filter { $0.kind == .keyPackage }.map(\.id)
        if !legacy.isEmpty { self.performKeyTask(.delete(legacy, at: relays), &step) }
        // Of earlier versions, which announced a package with both kinds.
        let addressable = first.filter { $0.kind == .addressableKeyPackage }.map(\.id)
        guard !addressable.isEmpty else { return }
        let draft = KeyPackageSchedule.deletion(of: addressable, by: self.account.publicKey, now: step.now)
        let row = "deletion/\(draft.id.hex)"
        self.performKeyTask(
            .publish(DuePublication(row: row, draft: draft, relays: relays, purpose: .deletion)), &step)
    }

    /// Marks a package as used by a join, and rotates it.
    mutating func consume(_ package: StoredKeyPackage, _ step: inout CoreStep) {
        let generation = self.keyPackages.generation(of: package)
        if self.keyPackages.consume(package, &step) { self.tryRotation(generation, &step) }
    }

    private mutating func tryRotation(_ generation: GroupGeneration, _ step: inout CoreStep) {
        self.state.keyPackage.begin(generation)
        do { try self.rotateKeyPackage(generation, &step) } catch {
            step.effects.append(.note(.sendFailed(reason: "key package: \(error)")))
        }
    }

    /// Signs an announcement again if every relay refused it and it may be too old for them.
    mutating func replaceRefusedKeyPackage(_ event: Event, _ step: inout CoreStep) {
        guard let (package, events) = self.keyPackages.dropRefused(event, &step) else { return }
        self.dropRows(of: events, &step)
        do { try self.announce(package, &step) } catch {
            step.effects.append(.note(.sendFailed(reason: "key package: \(error)")))
        }
    }

    // MARK: Maintenance

    /// Replaces packages that are near their expiry.
    mutating func rotateDueKeyPackage(_ step: inout CoreStep) {
        guard self.keyPackages.isAnnounced else { return }
        for generation in GroupGeneration.allCases where self.keyPackages.current(generation, at: step.now) == nil {
            // A signer that refused to prove the device's key is asked again only for a requested announcement.
            if generation == .v2, self.keyPackages.device.refusal != nil { continue }
            self.tryRotation(generation, &step)
        }
    }

    /// Deletes private keys for which no further Welcome is expected.
    mutating func deleteExpiredKeyPackages(_ step: inout CoreStep) {
        guard self.hasReadWelcomes(step.now) else { return }
        for events in self.keyPackages.deleteExpired(awaited: self.invitations.keyPackageReferences, &step) {
            self.withdraw(events, &step)
        }
    }

    /// Whether events that arrived while this account was away have been read.
    private func hasReadWelcomes(_ now: UnixTime) -> Bool {
        let connected = self.state.relays.filter { $0.connection == .connected }
        return self.keyPackages.mayExpire(now) && !connected.isEmpty && connected.allSatisfy(\.isCaughtUp)
    }
}
