import PikaCore

/// A feed as configured, with its secrets.
package struct FeedPlan: Sendable {
    /// The kinds of sources, with their settings.
    package enum Source: Sendable {
        case webhook(WebhookSettings)
        case webSocket(WebSocketFeedSettings)
        case poll(PollSettings)
        case sse(StreamSettings)
        case directory(DirectorySettings)
        case program(ProgramSettings)
    }

    /// The feed's name; unique in the account.
    package var name: String
    package var source: Source
    /// The maximum number of bytes of an item.
    package var maximumBytes: Int

    package init(name: String, source: Source, maximumBytes: Int = 256 << 10) {
        self.name = name
        self.source = source
        self.maximumBytes = min(max(1, maximumBytes), FeedItem.maximumPayloadBytes)
    }
}

/// A header of requests. The value may be a secret.
package struct FeedHeader: Sendable, CustomStringConvertible {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    package var description: String { "\(name): (not shown)" }
}

/// A stream of server-sent events.
package struct StreamSettings: Sendable {
    package var url: String
    package var headers: [FeedHeader]
    /// The member of JSON items that contains their id; nil to use the event's `id:`.
    package var idField: String?
    /// The time without any byte after which the stream counts as dead.
    package var idleTimeout: Duration

    package init(url: String, headers: [FeedHeader] = [], idField: String? = nil, idleTimeout: Duration = .seconds(120))
    {
        self.url = url
        self.headers = headers
        self.idField = idField
        self.idleTimeout = idleTimeout
    }
}

/// A document that is requested at an interval.
package struct PollSettings: Sendable {
    package var url: String
    package var headers: [FeedHeader]
    package var every: Duration

    package init(url: String, headers: [FeedHeader] = [], every: Duration = .seconds(60)) {
        self.url = url
        self.headers = headers
        self.every = every
    }
}

/// A WebSocket, whose messages are the items.
package struct WebSocketFeedSettings: Sendable {
    package var url: String
    package var headers: [FeedHeader]
    /// Messages to send after each connection, such as subscriptions.
    package var greetings: [String]
    /// The member of JSON items that contains their id; nil if items have none.
    package var idField: String?

    package init(url: String, headers: [FeedHeader] = [], greetings: [String] = [], idField: String? = nil) {
        self.url = url
        self.headers = headers
        self.greetings = greetings
        self.idField = idField
    }
}

/// A folder, whose files are the items.
package struct DirectorySettings: Sendable {
    /// What happens to a stored file.
    package enum Disposal: String, Sendable, CaseIterable {
        /// Moves it into the subfolder `done`.
        case move
        case delete
    }

    package var path: String
    package var every: Duration
    package var disposal: Disposal

    package init(path: String, every: Duration = .seconds(2), disposal: Disposal = .move) {
        self.path = path
        self.every = every
        self.disposal = disposal
    }
}

/// A program, whose lines on standard output are the items.
package struct ProgramSettings: Sendable {
    package var command: [String]
    package var directory: String
    /// Its whole environment.
    package var environment: [String: String]
    /// The member of JSON items that contains their id; nil if items have none.
    package var idField: String?

    package init(command: [String], directory: String, environment: [String: String], idField: String? = nil) {
        self.command = command
        self.directory = directory
        self.environment = environment
        self.idField = idField
    }
}
