/// The state of one account for the overview of all accounts; small, because it is queried every few seconds.
package struct AccountSummary: Codable, Hashable, Sendable {
    /// The account's public key as npub.
    package var npub = ""
    package var isReady = false
    package var connectedRelays = 0
    package var relays = 0
    package var chats = 0
    package var invitations = 0
    package var pausedBots: [String] = []
    package var checks: [CheckReport] = []
    /// Groups whose history the account cannot follow.
    package var haltedGroups: [String] = []
    /// Members that keep undoing the commits of a group.
    package var storms: [String] = []
    /// Input that crashed the worker, and is skipped.
    package var quarantine: [String] = []
    package var counters = AccountCounters()

    package init() {}
}

/// One health check in the words of `/readyz`.
package struct CheckReport: Codable, Hashable, Sendable {
    package var check: String
    package var relay: String?
    package var ok: Bool
    package var message: String

    package init(check: String, relay: String? = nil, ok: Bool, message: String) {
        self.check = check
        self.relay = relay
        self.ok = ok
        self.message = message
    }
}

/// Counters since the worker's start, and gauges of the moment; charts show the differences between two of them.
package struct AccountCounters: Codable, Hashable, Sendable {
    /// Events that were dispatched to the bots.
    package var received = 0.0
    /// Outgoing events that a relay has acknowledged.
    package var answered = 0.0
    /// Errors and timeouts of handlers, and outgoing events that were abandoned.
    package var failed = 0.0
    package var handlerSeconds = 0.0
    package var handlerCalls = 0.0
    package var publishSeconds = 0.0
    package var publishes = 0.0
    /// The mean of the latest round trips of the canaries; nil if none came back.
    package var canaryMilliseconds: Double?
    /// Events that wait for the bots, and the age of the oldest in seconds.
    package var inbox = 0
    package var inboxAge: Int64 = 0
    /// Events that wait for a relay, and the age of the oldest in seconds.
    package var outbox = 0
    package var outboxAge: Int64 = 0

    package init() {}
}
