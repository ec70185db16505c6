import MLS
import Marmot
import Nostr

/// Quarantined subjects, which crashed the process (``CrashLedger``), and their release or removal by operators.
extension CoreModel {
    /// Whether an event must be skipped because it is quarantined. Its content is stored on first receipt, for a
    /// release.
    func isQuarantined(_ event: Event, _ step: inout CoreStep) -> Bool {
        let subject = CrashSubject.event(event.id)
        guard self.crashes.holds(subject) else {
            guard event.kind == .giftWrap, self.crashes.holds(.giftWraps) else { return false }
            step.refuse(.quarantined, "gift wraps are quarantined", event.id)
            return true
        }
        step.effects.append(.storeQuarantined(subject, event))
        step.refuse(.quarantined, "it crashed the process", event.id)
        return true
    }

    /// The scope that an event comes from: two deadly events quarantine the whole scope.
    func crashScope(of event: Event) -> CrashSubject? {
        switch event.kind {
        case .giftWrap: .giftWraps
        case .groupEvent:
            // If several groups claim its routing id, none is blamed for it until a key has opened it.
            self.groups.onlyCandidate(for: event).map { .group($0) }
        default: nil
        }
    }

    /// Completes releases after a successful restore, which included the released subjects.
    mutating func completeReleases(_ step: inout CoreStep) {
        for entry in self.crashes.quarantine where entry.isReleased {
            if entry.subject.kind == .group {
                let groups = self.groups.values.filter {
                    $0.isActive && CrashSubject.group($0.groupID) == entry.subject
                }
                for group in groups { self.readBacklog(of: group.groupID, &step) }
            }
            step.effects.append(.changeQuarantine(.forget, entry.subject))
        }
        for event in self.quarantine.waiting { step.effects.append(.storeQuarantined(.event(event.id), event)) }
    }

    mutating func order(
        _ order: QuarantineOrder, _ subject: CrashSubject, _ request: RequestID, _ step: inout CoreStep
    ) {
        guard let entry = self.crashes.quarantine.first(where: { $0.subject == subject }) else {
            return self.refuse("\(subject) is not quarantined", request, &step)
        }
        switch order {
        case .release: self.release(entry, &step)
        case .drop:
            guard self.drop(entry, &step) else {
                return self.refuse("\(subject) cannot be dropped, only released", request, &step)
            }
        }
        self.finish(request, .done(chatID: nil), &step)
    }

    private func refuse(_ reason: String, _ request: RequestID, _ step: inout CoreStep) {
        step.effects.append(.finish(request, .failed(AppCoreError(.notAllowed, reason))))
    }

    private mutating func release(_ entry: QuarantineEntry, _ step: inout CoreStep) {
        switch entry.subject.kind {
        case .group, .row:
            step.effects.append(.changeQuarantine(.releaseAtStart, entry.subject))
            return
        case .event:
            // It stays on the list until the core has processed it: if it crashes this process too, it is still
            // quarantined.
            if let event = entry.content.flatMap({ try? Event(json: $0) }) {
                self.useReleased(event, &step)
            } else {
                self.readAgain(&step)
            }
        case .frame, .relay, .giftWraps: self.readAgain(&step)
        case .change, .pass: break
        }
        step.effects.append(.changeQuarantine(.forget, entry.subject))
    }

    private mutating func useReleased(_ event: Event, _ step: inout CoreStep) {
        guard !self.inbound.seen.contains(event.id) else { return }
        step.changes.append(.deleteWaiting(event.id))
        self.ingest(event, &step)
    }

    /// Reads from relays again.
    private mutating func readAgain(_ step: inout CoreStep) {
        for status in self.state.relays where status.connection == .connected { self.catchUp(status.url, &step) }
        for group in self.groups.values.filter(\.isActive) { self.readBacklog(of: group.groupID, &step) }
    }

    /// Deletes a quarantined subject. Returns false for subjects that cannot be dropped, since it is unknown what to
    /// delete.
    private mutating func drop(_ entry: QuarantineEntry, _ step: inout CoreStep) -> Bool {
        switch entry.subject.kind {
        case .event:
            guard let id = try? EventID(hex: entry.subject.name) else { return false }
            self.remember(id, &step)
            step.changes.append(.deleteWaiting(id))
        case .group:
            guard self.quarantine.dropGroup(entry.subject, &step) else { return false }
        case .row:
            guard self.quarantine.dropRow(entry.subject, &step) else { return false }
        case .frame, .relay, .giftWraps, .change, .pass: return false
        }
        step.effects.append(.changeQuarantine(.forget, entry.subject))
        return true
    }
}

/// An operator's order about a quarantined subject.
package enum QuarantineOrder: String, Sendable, Hashable, CaseIterable {
    /// Process it again.
    case release
    /// Delete it, and never process it again.
    case drop
}

/// The change to an entry once a turn is durable.
enum QuarantineChange: Sendable, Hashable {
    case forget
    case releaseAtStart
}

extension AppCore {
    /// All quarantined subjects, oldest first.
    package nonisolated var quarantine: [QuarantineEntry] { self.store.crashes.quarantine }

    /// Releases or drops a quarantined subject. Returns the error if that is impossible; nil when it is done.
    ///
    /// A released group or row takes effect at the next start. ``run()`` must be running.
    package nonisolated func order(_ order: QuarantineOrder, _ subject: CrashSubject) async -> AppCoreError? {
        let request = RequestID(rawValue: "quarantine/\(order.rawValue)/\(subject)")
        let updates = self.updates()
        self.mailbox.send(.quarantine(order, subject, request))
        for await case .finished(_, request, let outcome) in updates {
            if case .failed(let error) = outcome { return error }
            return nil
        }
        return AppCoreError(.notAllowed, "the core has ended")
    }
}
