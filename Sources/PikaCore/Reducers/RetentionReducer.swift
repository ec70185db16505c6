import Nostr

/// Deletes messages and unhandled events past their retention (``RetentionPolicy``).
extension CoreModel {
    /// The number of rows that one transaction deletes.
    static let retentionBatch = 256

    mutating func retain(_ step: inout CoreStep) {
        if !self.giveUpOldEvents(&step) {
            step.effects.append(.wake(.retention, atMilliseconds: step.nowMilliseconds + 1000))
        }
        if let surplus = self.configuration.retention.surplus(at: step.now) {
            step.effects.append(.countSurplus(surplus, limit: Self.retentionBatch))
        }
    }

    /// Deletes one batch, and requests a count of the rest.
    mutating func deleteSurplus(_ rule: MessageSurplus, _ count: Int, _ step: inout CoreStep) {
        guard count > 0 else { return }
        step.changes.append(.deleteSurplus(rule, limit: Self.retentionBatch))
        step.effects.append(.countSurplus(rule, limit: Self.retentionBatch))
        if let newest = rule.beyondNewest, let shown = self.state.currentChat?.messages.count, shown > newest {
            self.dropShown(first: shown - newest)
        }
        guard let before = rule.before else { return }
        self.dropShown { $0.time < before }
        self.forgetLastMessages { ($0.lastMessageAt ?? .max) < before }
    }

    // MARK: The inbox

    /// Hands events to handlers, oldest first, while there is room; ``finish(_:_:_:)`` makes more.
    mutating func handOutEvents(_ step: inout CoreStep) {
        let retention = self.configuration.retention
        let window = Inbox.Window.within(retention.maximumUnhandled)
        let oldest = retention.unhandled.map { step.now - $0.components.seconds } ?? .min
        while let event = self.inbox.handOut(within: window, notBefore: oldest) {
            step.effects.append(.deliver(event))
        }
    }

    /// Drops a batch of events that waited too long; false if there are more.
    private mutating func giveUpOldEvents(_ step: inout CoreStep) -> Bool {
        guard let age = self.configuration.retention.unhandled?.components.seconds else { return true }
        let old = self.inbox.waiting(since: step.now - age)
        for event in old.prefix(Self.retentionBatch).compactMap({ self.inbox.remove($0) }) {
            self.note(event, "too_old", &step)
        }
        return old.count <= Self.retentionBatch
    }

    /// Drops the oldest waiting events if there are too many, or too many bytes. Handlers have seen none of them.
    mutating func boundInbox(_ step: inout CoreStep) {
        let retention = self.configuration.retention
        let (count, bytes) = (max(0, retention.maximumUnhandled), RetentionPolicy.maximumUnhandledBytes)
        while let event = self.inbox.dropSurplus(count: count, bytes: bytes) { self.note(event, "too_many", &step) }
    }

    /// Records that an event left the inbox unhandled.
    private func note(_ event: CoreEvent, _ reason: String, _ step: inout CoreStep) {
        step.changes.append(.deleteInbox(id: event.inboxID))
        if let names = event.names {
            step.observe(
                .gaveUp, reason, "no handler was done with it in time", names.wrapper ?? names.id, inner: names.id,
                chatID: event.chatID)
        }
        step.effects.append(.note(.gaveUpEvent(reason: reason)))
    }
}
