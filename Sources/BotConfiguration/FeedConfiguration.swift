package import BotDispatch

/// A feed of an account: a source of events from outside the chats.
package struct FeedConfiguration: Hashable, Sendable {
    /// The kind of the source, with its settings.
    package enum Source: Hashable, Sendable {
        case webhook(Webhook)
        case webSocket(WebSocket)
        case poll(Poll)
        case sse(EventStream)
        case directory(Directory)
        case program(Program)
    }

    /// A value of a request's header or an environment variable.
    package typealias Variable = ExternalBotConfiguration.Variable

    /// Requests to `POST /feeds/NAME`.
    package struct Webhook: Hashable, Sendable {
        package enum Authentication: Hashable, Sendable {
            /// References to the keys of signatures; several while a sender changes its key.
            case hmac([KeyReference])
            /// A reference to a token.
            case bearer(KeyReference)
        }

        package var authentication: Authentication
        /// The maximum difference between a signature's time and this machine's clock.
        package var tolerance = Duration.seconds(300)
        /// The maximum rate of genuine requests.
        package var rate: Rate? = Rate(60, per: .minute)
    }

    /// Messages of a WebSocket.
    package struct WebSocket: Hashable, Sendable {
        package var url: String
        package var headers: [String: Variable] = [:]
        /// Messages to send after each connection.
        package var send: [String] = []
        package var idField: String?
    }

    /// Versions of a document.
    package struct Poll: Hashable, Sendable {
        package var url: String
        package var headers: [String: Variable] = [:]
        package var every = Duration.seconds(60)
    }

    /// Server-sent events.
    package struct EventStream: Hashable, Sendable {
        package var url: String
        package var headers: [String: Variable] = [:]
        package var idField: String?
    }

    /// Files of a folder.
    package struct Directory: Hashable, Sendable {
        package enum Disposal: String, Hashable, Sendable, CaseIterable {
            case move, delete
        }

        package var path: String
        package var every = Duration.seconds(2)
        package var then = Disposal.move
    }

    /// Lines of a program.
    package struct Program: Hashable, Sendable {
        package var command: [String]
        package var directory: String
        package var environment: [String: Variable] = [:]
        package var idField: String?
    }

    /// The default of ``maximumBytes``.
    package static let standardMaximumBytes = 262_144
    /// The limit of ``maximumBytes``: that of the inbox.
    package static let mostBytes = 1_048_576
    /// The maximum number of feeds of an account.
    package static let most = 32

    /// Unique among the feeds of the account.
    package var name: String
    package var source: Source
    /// The maximum number of bytes of an item.
    package var maximumBytes = Self.standardMaximumBytes
}
