import Nostr

/// What was kept for long enough goes: messages and events that no handler finished (``RetentionPolicy``).
extension CoreModel {
    /// Rows that one transaction deletes.
    static let retentionBatch = 256

    mutating func retain(_ step: inout CoreStep) {
        if !self.giveUpOldEvents(&step) {
            step.effects.append(.wake(.retention, atMilliseconds: step.nowMilliseconds + 1000))
        }
        if let surplus = self.configuration.retention.surplus(at: step.now) {
            step.effects.append(.countSurplus(surplus, limit: Self.retentionBatch))
        }
    }

    /// Deletes one batch, and asks whether there is more.
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

    /// Gives up events that waited too long, a batch of them; false if there are more.
    private mutating func giveUpOldEvents(_ step: inout CoreStep) -> Bool {
        guard let age = self.configuration.retention.unhandled?.components.seconds else { return true }
        let old = self.inbox.values.filter { $0.receivedAt < step.now - age }.map(\.inboxID).sorted()
        for id in old.prefix(Self.retentionBatch) { self.giveUp(id, "too_old", &step) }
        return old.count <= Self.retentionBatch
    }

    /// Gives up the oldest events if there are too many.
    mutating func boundInbox(_ step: inout CoreStep) {
        let surplus = self.inbox.count - max(0, self.configuration.retention.maximumUnhandled)
        guard surplus > 0 else { return }
        // One at a time is the rule, several after the bound was lowered.
        let oldest = surplus == 1 ? self.inbox.keys.min().map { [$0] } ?? [] : self.inbox.keys.sorted()
        for id in oldest.prefix(surplus) { self.giveUp(id, "too_many", &step) }
    }

    private mutating func giveUp(_ id: Int64, _ reason: String, _ step: inout CoreStep) {
        let event = self.inbox.removeValue(forKey: id)
        step.changes.append(.deleteInbox(id: id))
        if let event, let names = event.names {
            step.observe(
                .gaveUp, reason, "no handler was done with it in time", names.wrapper ?? names.id, inner: names.id,
                chatID: event.chatID)
        }
        step.effects.append(.note(.gaveUpEvent(reason: reason)))
    }
}
