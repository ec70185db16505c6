package import Nostr

/// The health and backlog of a core, for health checks and gauges; values that no snapshot shows.
package struct CoreVitals: Sendable, Hashable {
    /// The time of the measurement.
    package internal(set) var takenAt: UnixTime
    /// The snapshot of the same moment.
    package internal(set) var state: AppState
    /// Events not yet completed by the handlers, and the arrival of the oldest.
    package internal(set) var inboxDepth: Int
    package internal(set) var oldestInboxAt: UnixTime?
    /// Events that no relay has acknowledged, and when the oldest was queued; after a restart no earlier than the
    /// start.
    package internal(set) var outboxDepth: Int
    package internal(set) var oldestOutboxAt: UnixTime?
    /// Messages of this account that failed and are still stored.
    package internal(set) var deadLetters: Int
    /// Groups that this account is a member of.
    package internal(set) var groupCount: Int
    /// Whether the account announces key packages at all.
    package internal(set) var announcesKeyPackage: Bool
    /// The time when the announced key package expires; nil if none is announced.
    package internal(set) var keyPackageEndsAt: UnixTime?
    /// Accounts that repeatedly undo the commits of a group.
    package internal(set) var rollbackStorms: [RollbackStorm] = []
    /// Stored events that cannot be used yet.
    package internal(set) var parked = ParkedEvents()
    /// Messages of this account that no relay has: those that have failed, and the first ``maximumUnsent`` that wait.
    package internal(set) var unsent: [EventID: AppState.Delivery] = [:]

    static let maximumUnsent = 1_000
}

/// The backlog of others' events that cannot be used yet, and the cost of the attempts to open them.
package struct ParkedEvents: Sendable, Hashable {
    /// Group events that could not be opened on arrival.
    package internal(set) var waiting = 0
    package internal(set) var waitingBytes = 0
    /// Live events held back until older ones are read.
    package internal(set) var held = 0
    package internal(set) var heldBytes = 0
    /// Attempts, since the start, to decrypt the outer layer of waiting events.
    package internal(set) var trials = 0
}

extension AppCore {
    /// Returns the core's vitals. An answer means that the core processes inputs and that its store is writable.
    ///
    /// Nil once the core has ended. ``run()`` must be running.
    package nonisolated func vitals() async -> CoreVitals? {
        await self.healthQueries.ask(self.mailbox) { .queryVitals($0) }
    }
}
