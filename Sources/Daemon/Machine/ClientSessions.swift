import Nostr

/// The connected clients, with the options that each has set by `hello`. Pure.
struct ClientSessions: Sendable {
    /// The record of a connection.
    struct Session: Sendable {
        let client: DaemonClient
        /// Whether the client has sent `hello`.
        var isExtended = false
        var scope: DaemonToken.Scope?
        /// Whether the client wants events, and whether it receives them live. It does not while past events are
        /// replayed.
        var subscribes: Bool
        var isLive: Bool
        /// Cursor after which events are to be replayed.
        var replayFrom: Int64?
        /// Whether the client has given a cursor, and so has every recorded event up to now or gets it by the replay.
        var hasCursor = false
        /// Whether the outcomes of the client's commands are reported as events.
        var wantsOutcomes = false

        fileprivate init(_ client: DaemonClient) {
            self.client = client
            self.subscribes = client.origin != .socket
            self.isLive = self.subscribes
        }

        /// Returns the line for a recorded event; nil if the client does not get it. A client without a subscription
        /// gets the changes of groups only.
        func line(of event: DaemonEvent, cursor: Int64) -> String? {
            guard self.client.origin == .standard || self.subscribes || event.isGroupUpdate else { return nil }
            return event.line(cursor: self.isExtended ? cursor : nil)
        }
    }

    /// The account and its event log, for the reply to `hello`.
    struct HelloContext {
        let account: PublicKey
        let newestCursor: Int64
        let oldestCursor: Int64
        /// Number of events that wait for the program.
        let waitingEvents: Int64
        /// Returns the tokens that are currently valid.
        let tokens: () -> [DaemonToken]
    }

    /// The version of the extension.
    private static let extensionVersion: Int64 = 2

    /// Whether socket clients need a token.
    private let requiresToken: Bool
    private var sessions: [ObjectIdentifier: Session] = [:]

    init(requiresToken: Bool) {
        self.requiresToken = requiresToken
    }

    // MARK: Connections

    mutating func attach(_ client: DaemonClient) { self.sessions[client.id] = Session(client) }

    mutating func detach(_ client: DaemonClient) { self.sessions[client.id] = nil }

    var clients: [DaemonClient] { self.sessions.values.map(\.client) }

    /// Number of clients besides the standard one.
    var socketCount: Int { self.sessions.count - 1 }

    func isAttached(_ client: DaemonClient) -> Bool { self.sessions[client.id] != nil }

    func isExtended(_ client: DaemonClient) -> Bool { self.sessions[client.id]?.isExtended == true }

    func wantsOutcomes(_ client: DaemonClient) -> Bool { self.sessions[client.id]?.wantsOutcomes == true }

    // MARK: Commands

    /// Throws unless the connection may run the command.
    func authorize(_ command: DaemonCommand, _ client: DaemonClient) throws(DaemonFailure) {
        if case .hello = command { return }
        guard let session = self.sessions[client.id] else { return }
        if self.requiresToken, client.origin == .socket, session.scope == nil {
            throw DaemonFailure(
                .unauthorized, "a `hello` with a token must come first; make a token with: pikabot daemon token")
        }
        if session.scope == .read, command.isMutating {
            throw DaemonFailure(.forbidden, "the token has scope read, which allows no changes")
        }
    }

    /// Returns the client that gets a reply: some replies of some commands go to standard output, whichever client sent
    /// the command (docs/daemon.md), unless that client is a program or uses the extension.
    func target(_ client: DaemonClient, standard: DaemonClient, isForStandard: Bool) -> DaemonClient {
        isForStandard && client.origin != .program && !self.isExtended(client) ? standard : client
    }

    /// Applies a `hello`. Returns the fields of its reply; nil if the client is gone.
    mutating func hello(
        _ hello: DaemonCommand.Hello, _ client: DaemonClient, _ context: HelloContext
    ) throws(DaemonFailure) -> JSONObject? {
        guard hello.version >= Self.extensionVersion else {
            throw DaemonFailure(.badRequest, "protocol must be at least \(Self.extensionVersion)")
        }
        guard var session = self.sessions[client.id] else { return nil }
        session.scope = try self.scope(of: hello, session, context)
        try Self.check(hello, client, newest: context.newestCursor)
        session.isExtended = true
        session.wantsOutcomes = hello.wantsOutcomes
        if client.origin == .socket { session.subscribes = hello.subscribes || hello.cursor != nil }
        session.isLive = session.subscribes
        var result: JSONObject = [
            "protocol": .integer(Self.extensionVersion),
            "capabilities": Self.capabilities(of: client),
            "pubkey": .string(context.account.hex), "npub": .string(context.account.npub),
            "scope": .string((session.scope ?? .full).rawValue), "subscribed": .bool(session.subscribes),
            "cursor": .integer(context.newestCursor), "oldest_cursor": .integer(context.oldestCursor),
        ]
        if let cursor = hello.cursor {
            let position = max(cursor, context.oldestCursor - 1)
            result["replay"] = .integer(context.newestCursor - position)
            result["gap"] = .bool(cursor + 1 < context.oldestCursor)
            session.replayFrom = position
            session.hasCursor = true
            session.isLive = false
        }
        if client.origin == .program {
            // A program reads its events from the log.
            session.replayFrom = nil
            session.isLive = true
            result["waiting"] = .integer(context.waitingEvents)
        }
        self.sessions[client.id] = session
        return result
    }

    private static func check(
        _ hello: DaemonCommand.Hello, _ client: DaemonClient, newest: Int64
    ) throws(DaemonFailure) {
        if let cursor = hello.cursor, cursor < 0 || cursor > newest {
            throw DaemonFailure(.badCursor, "cursor must be from 0 to \(newest)")
        }
        if hello.acknowledges, client.origin != .program {
            throw DaemonFailure(.badRequest, "`acks` is only for bots that run as external programs")
        }
        if hello.acknowledges, hello.cursor != nil {
            throw DaemonFailure(.badRequest, "`cursor` must be absent with `acks`: the daemon keeps the position")
        }
    }

    private static func capabilities(of client: DaemonClient) -> JSONValue {
        switch client.origin {
        case .standard, .socket: ["cursor", "replay", "idempotency", "tokens", "subscribe", "outcomes"]
        case .program: ["cursor", "replay", "idempotency", "acks", "outcomes"]
        }
    }

    private func scope(
        of hello: DaemonCommand.Hello, _ session: Session, _ context: HelloContext
    ) throws(DaemonFailure) -> DaemonToken.Scope? {
        guard let text = hello.token else {
            if self.requiresToken, session.client.origin == .socket {
                throw DaemonFailure(
                    .unauthorized, "this daemon requires a token; make one with: pikabot daemon token")
            }
            return nil
        }
        guard let scope = DaemonToken.scope(of: text, in: context.tokens()) else {
            throw DaemonFailure(.badToken, "unknown token")
        }
        return scope
    }

    // MARK: Replay

    /// Begins the replay that a client has asked for; returns the cursor after which it starts, nil for none.
    mutating func beginReplay(to client: DaemonClient) -> Int64? {
        defer { self.sessions[client.id]?.replayFrom = nil }
        return self.sessions[client.id]?.replayFrom
    }

    /// Starts live delivery to a client that has every past event.
    mutating func goLive(_ client: DaemonClient) { self.sessions[client.id]?.isLive = true }

    // MARK: Events

    /// Returns the sessions that get recorded events live; the others read them from the log.
    ///
    /// - Parameter isNew: whether the events were not recorded before.
    func listeners(isNew: Bool) -> [Session] {
        self.sessions.values.filter { session in
            switch session.client.origin {
            case .standard: session.isLive && (isNew || !session.hasCursor)
            case .socket:
                isNew && (session.subscribes ? session.isLive : !self.requiresToken || session.scope != nil)
            case .program: false
            }
        }
    }

    /// The clients besides the standard one that get transient events.
    var transientListeners: [DaemonClient] {
        self.sessions.values.filter { $0.isLive && $0.client.origin != .standard }.map(\.client)
    }
}
