/// All of one account that the console shows, without the content of chats. Times are Unix seconds.
package struct AccountReport: Codable, Hashable, Sendable {
    package var summary = AccountSummary()
    package var relays: [RelayReport] = []
    package var keyPackage = KeyPackageReport()
    /// The newest chats, and the number of all.
    package var chats: [ChatReport] = []
    package var chatCount = 0
    package var invitations: [InvitationReport] = []
    package var bots: [BotReport] = []
    /// Own messages that could not be delivered and are kept.
    package var deadLetters = 0
    /// Events that cannot be opened yet, and their bytes.
    package var parked = 0
    package var parkedBytes = 0

    package init() {}
}

package struct RelayReport: Codable, Hashable, Sendable {
    /// The last period of disconnection, and the events that were read after it.
    package struct Gap: Codable, Hashable, Sendable {
        package var from: Int64?
        package var to: Int64
        package var recovered: Int
        package var unknown: Int
        package var failedReads: Int
        package var isRead: Bool

        package init(from: Int64?, to: Int64, recovered: Int, unknown: Int, failedReads: Int, isRead: Bool) {
            self.from = from
            self.to = to
            self.recovered = recovered
            self.unknown = unknown
            self.failedReads = failedReads
            self.isRead = isRead
        }
    }

    package var url: String
    /// `connected`, `connecting`, `retrying` or `disconnected`.
    package var state = "disconnected"
    package var reason: String?
    package var isCaughtUp = false
    package var gap: Gap?
    /// The outcome of the latest canary: its round trip, or the failure.
    package var canaryMilliseconds: Int64?
    package var canaryFailure: String?
    package var canaryAt: Int64?
    /// Whether the configuration names the relay; others are named by groups.
    package var isConfigured = false

    package init(url: String) {
        self.url = url
    }
}

package struct KeyPackageReport: Codable, Hashable, Sendable {
    package struct Answer: Codable, Hashable, Sendable {
        package var relay: String
        /// `stored`, `pending`, `refused` or `unreachable`.
        package var state: String
        package var reason: String?

        package init(relay: String, state: String, reason: String? = nil) {
            self.relay = relay
            self.state = state
            self.reason = reason
        }
    }

    package var isAnnounced = false
    /// Whether a relay has acknowledged a key package since the start.
    package var isPublished = false
    package var event: String?
    package var expiresAt: Int64?
    package var answers: [Answer] = []

    package init() {}
}

package struct InvitationReport: Codable, Hashable, Sendable {
    /// The event that carried the invitation; names it in actions.
    package var id: String
    package var inviter: String
    package var group: String?
    package var members: Int?

    package init(id: String, inviter: String, group: String? = nil, members: Int? = nil) {
        self.id = id
        self.inviter = inviter
        self.group = group
        self.members = members
    }
}

package struct BotReport: Codable, Hashable, Sendable {
    package var name: String
    /// `use: NAME` or `command`.
    package var kind = ""
    package var isPaused = false
    /// The state of an external bot's program; nil for a built-in bot.
    package var program: String?
    package var programRestarts = 0
    package var limits: [String] = []
    package var calls = 0.0
    package var errors = 0.0
    package var timeouts = 0.0
    /// Handlers that still run after their deadline.
    package var hanging = 0

    package init(name: String) {
        self.name = name
    }
}
