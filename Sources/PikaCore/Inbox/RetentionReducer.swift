import Nostr

/// Deletes messages and unhandled events past their retention (``RetentionPolicy``).
extension CoreModel {
    mutating func retain(_ step: inout CoreStep) {
        let retention = self.configuration.retention
        if !self.inbox.dropExpired(retention, &step) {
            step.effects.append(.wake(.retention, atMilliseconds: step.nowMilliseconds + 1000))
        }
        if let surplus = retention.surplus(at: step.now) {
            step.effects.append(.countSurplus(surplus, limit: HandlerInbox.retentionBatch))
        }
    }

    /// Deletes one batch, and requests a count of the rest.
    mutating func deleteSurplus(_ rule: MessageSurplus, _ count: Int, _ step: inout CoreStep) {
        guard count > 0 else { return }
        step.changes.append(.deleteSurplus(rule, limit: HandlerInbox.retentionBatch))
        step.effects.append(.countSurplus(rule, limit: HandlerInbox.retentionBatch))
        if let newest = rule.beyondNewest, let shown = self.state.currentChat?.messages.count, shown > newest {
            self.dropShown(first: shown - newest)
        }
        guard let before = rule.before else { return }
        self.dropShown { $0.time < before }
        self.forgetLastMessages { ($0.lastMessageAt ?? .distantFuture) < before }
    }
}
