import MLS
import Marmot
import Nostr

/// Announces, rotates and deletes this account's key packages (``KeyPackages``).
extension CoreModel {
    /// Announces the current key package on request; nil if the outcome waits for the signer.
    mutating func publishKeyPackage(_ request: RequestID?, _ step: inout CoreStep) throws -> ActionOutcome? {
        try self.publishKeyPackage(&step)
        guard let request, let current = self.keyPackages.current(step.now),
            self.signer.contains(.announce(current.reference))
        else { return .done(chatID: nil) }
        self.ask(.announce(current.reference), for: request, &step)
        return nil
    }

    /// Announces the current key package, or a fresh one if absent, with the relay lists that lead to it.
    mutating func publishKeyPackage(_ step: inout CoreStep) throws {
        guard !self.configuration.announcementRelays.isEmpty else { return }
        self.state.keyPackage.begin()
        self.publishRelayLists(&step)
        if let current = self.keyPackages.current(step.now) {
            try self.announce(current, &step)
        } else {
            try self.rotateKeyPackage(&step)
        }
    }

    /// Replaces all packages in use by a fresh one.
    mutating func rotateKeyPackage(_ step: inout CoreStep) throws {
        let package = try self.keyPackages.make(for: self.account.publicKey, &step)
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
            self.announce(event, row: row, to: relays, &step)
            if self.delivery.queue.contains(where: { $0.id == row }) { continue }
            // Replaces the background sending of an earlier announcement.
            self.dropRow(row, &step)
            self.enqueue(id: row, event, to: relays, .keyPackage, &step)
        }
    }

    /// Adds an event to the current announcement; a row waiting for its next attempt becomes due at once.
    mutating func announce(_ event: Event, row: String, to relays: [RelayURL], _ step: inout CoreStep) {
        let isUnderWay = self.delivery.queue.attemptBegan(row) != nil
        self.state.keyPackage.expect(event, from: relays, isUnderWay: isUnderWay)
        if self.delivery.makeDue(row: row) { self.flushOutbox(&step) }
    }

    private static func keyPackageRow(_ event: EventID) -> String { "key_package/\(event.hex)" }

    private mutating func dropRows(of events: [Event], _ step: inout CoreStep) {
        for event in events { self.dropRow(Self.keyPackageRow(event.id), &step) }
    }

    /// Deletes the superseded kind 443 events from the relays, once a relay has stored the current one.
    mutating func withdrawSuperseded(by event: Event, _ step: inout CoreStep) {
        self.withdraw(self.keyPackages.withdrawSuperseded(by: event, &step), &step)
    }

    /// Removes announcements from the outbox, and kind 443 from the relays.
    private mutating func withdraw(_ events: [Event], _ step: inout CoreStep) {
        self.dropRows(of: events, &step)
        let legacy = events.filter { $0.kind == .keyPackage }
        guard !legacy.isEmpty else { return }
        let stated = legacy.flatMap { (try? KeyPackageEvents.relays(of: $0)) ?? [] }
        var seen: Set<RelayURL> = []
        let relays = (self.configuration.announcementRelays + stated).filter { seen.insert($0).inserted }
        self.performKeyTask(.delete(legacy.map(\.id), at: relays), &step)
    }

    /// Marks a package as used by a join, and rotates it.
    mutating func consume(_ package: StoredKeyPackage, _ step: inout CoreStep) {
        if self.keyPackages.consume(package, &step) { self.tryRotation(&step) }
    }

    private mutating func tryRotation(_ step: inout CoreStep) {
        self.state.keyPackage.begin()
        do { try self.rotateKeyPackage(&step) } catch {
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

    /// Replaces a package that is near its expiry.
    mutating func rotateDueKeyPackage(_ step: inout CoreStep) {
        if self.keyPackages.isAnnounced, self.keyPackages.current(step.now) == nil { self.tryRotation(&step) }
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
