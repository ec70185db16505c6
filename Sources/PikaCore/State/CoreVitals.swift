/// How it stands with a core's work, for health checks and gauges: what no snapshot shows.
public struct CoreVitals: Sendable, Hashable {
    /// Unix seconds when this was so.
    public internal(set) var takenAt: Int64
    /// The snapshot that belongs to it.
    public internal(set) var state: AppState
    /// Events that the handlers are not done with, and when the oldest was taken in, in Unix seconds.
    public internal(set) var inboxDepth: Int
    public internal(set) var oldestInboxAt: Int64?
    /// Events that no relay has, and when the oldest was queued, in Unix seconds; after a start no earlier than that.
    public internal(set) var outboxDepth: Int
    public internal(set) var oldestOutboxAt: Int64?
    /// Own messages that were given up and are kept.
    public internal(set) var deadLetters: Int
    /// Groups that the account is a member of.
    public internal(set) var groupCount: Int
    /// Whether the account announces key packages at all.
    public internal(set) var announcesKeyPackage: Bool
    /// Unix seconds when the key package that others use ends; nil if there is none that is announced.
    public internal(set) var keyPackageEndsAt: Int64?
    /// Accounts that keep undoing the commits of a group.
    public internal(set) var rollbackStorms: [RollbackStorm] = []
    /// Events that cannot be used yet.
    public internal(set) var parked = ParkedEvents()
}

/// How much of others' events is kept until it can be used, and what the attempts to open it have cost.
public struct ParkedEvents: Sendable, Hashable {
    /// Group events that could not be opened when they came.
    public internal(set) var waiting = 0
    public internal(set) var waitingBytes = 0
    /// Live events that wait until older ones were read.
    public internal(set) var held = 0
    public internal(set) var heldBytes = 0
    /// Decryptions of the outer layers of waiting events that were attempted since the start.
    public internal(set) var trials = 0
}

extension AppCore {
    /// How it stands, asked of the core itself: an answer means that it takes inputs and that its store can be written.
    ///
    /// Nil once the core has ended. ``run()`` must be running.
    public nonisolated func vitals() async -> CoreVitals? { await self.desk.vitals(self.mailbox) }
}
