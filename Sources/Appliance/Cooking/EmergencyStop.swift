package import Nostr

/// An emergency stop: sent by every way at once, and repeated until the appliance has acknowledged it.
///
/// It needs no session, no reach and no permission of a queue. The caller stores it before the first request, so that it
/// goes on after a restart.
package struct EmergencyStop: Hashable, Sendable, Codable {
    /// Seconds between two attempts during the first minute, and later.
    package static let intervals: (first: Int64, later: Int64) = (1, 5)
    /// Seconds without an acknowledgement after which ``isOverdue(at:)`` asks people to switch the appliance off.
    package static let patience: Int64 = 5

    package let applianceID: String
    package let request: EmergencyStopRequest
    private var lastAttempt: UnixTime?
    package private(set) var attempts = 0
    /// The acknowledgement, with the way on which it came; nil for the live stream.
    package private(set) var receipt: EmergencyStopReceipt?

    package init(applianceID: String, id: String, now: UnixTime) throws(ApplianceError) {
        try Bounds.identifier(applianceID, "applianceID")
        self.applianceID = applianceID
        self.request = EmergencyStopRequest(id: id, requestedAt: now)
        try self.request.validate()
    }

    package var isAcknowledged: Bool { self.receipt != nil }

    /// When to call ``attempt(at:)``; nil once acknowledged.
    package var nextAttempt: UnixTime? {
        guard !self.isAcknowledged else { return nil }
        guard let lastAttempt else { return self.request.requestedAt }
        return lastAttempt + self.interval(at: lastAttempt)
    }

    private func interval(at time: UnixTime) -> Int64 {
        time.seconds(since: self.request.requestedAt) < 60 ? Self.intervals.first : Self.intervals.later
    }

    /// Returns the ways to send the request on now, all of them; empty if no attempt is due.
    package mutating func attempt(at now: UnixTime) -> [ApplianceRoute] {
        guard let nextAttempt else { return [] }
        // A clock that was set back must not delay a stop.
        let isBack = self.lastAttempt.map { now < $0 } ?? true
        guard isBack || now >= nextAttempt else { return [] }
        self.lastAttempt = now
        self.attempts = self.attempts.clampedAdding(1)
        return ApplianceRoute.allCases
    }

    /// Applies an acknowledgement; true if it is the first one of this stop.
    package mutating func receive(_ receipt: EmergencyStopReceipt) -> Bool {
        guard receipt.id == self.request.id, !self.isAcknowledged else { return false }
        self.receipt = receipt
        return true
    }

    /// Applies an event of the live stream; true if it acknowledges this stop for the first time.
    package mutating func receive(_ event: LiveEvent) -> Bool {
        guard case .emergencyStopAcknowledged(let receipt) = event.body else { return false }
        return self.receive(receipt)
    }

    /// Whether people must be told to switch the appliance off by hand.
    package func isOverdue(at now: UnixTime) -> Bool {
        !self.isAcknowledged && now.seconds(since: self.request.requestedAt) >= Self.patience
    }
}
