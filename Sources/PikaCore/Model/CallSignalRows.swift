import Nostr

/// Call signals in the outbox: retried a few times in quick succession, and useless once they are old
/// (docs/protocol/marmot.md §9.1).
extension OutboxRow {
    /// The maximum number of attempts per signal, and per notification.
    static let maximumSignalAttempts = 4
    /// Milliseconds before the second attempt; doubled each time.
    static let firstSignalDelay: Int64 = 250
    /// Seconds after which a signal is no longer sent: an invitation must not ring long after the call began.
    static let signalLifetime: Int64 = 30

    func isStaleSignal(now: UnixTime) -> Bool {
        self.purpose == .callSignal && self.event.createdAt < now - Self.signalLifetime
    }
}

extension CoreModel {
    /// Drops signals that have waited too long for a relay.
    mutating func dropStaleSignals(_ step: inout CoreStep) {
        for id in self.delivery.queue.signals {
            guard let row = self.delivery.queue.row(id), row.isStaleSignal(now: step.now) else { continue }
            self.dropRow(id, &step)
            step.effects.append(.note(.sendFailed(reason: "call_signal: no relay accepted it in time")))
            self.concludeSignal(row, failure: "no relay accepted it in time", &step)
        }
    }
}
