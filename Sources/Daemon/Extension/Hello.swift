import Foundation
import Logging
import Nostr
import PikaCore

/// The `hello` extension: numbered events, replay of missed events, and replies that go only to the client that asked.
extension DaemonEngine {
    /// The version of the extension.
    static let extensionVersion: Int64 = 2

    func greet(_ hello: DaemonCommand.Hello, _ client: DaemonClient) throws(DaemonFailure) -> Done {
        guard hello.version >= Self.extensionVersion else {
            throw DaemonFailure(.badRequest, "protocol must be at least \(Self.extensionVersion)")
        }
        guard var session = self.sessions[client.id] else { return Done() }
        session.scope = try self.scope(of: hello, session)
        if let cursor = hello.cursor, cursor < 0 || cursor > self.log.last {
            throw DaemonFailure(.badCursor, "cursor must be from 0 to \(self.log.last)")
        }
        if hello.acknowledges, client.origin != .program {
            throw DaemonFailure(.badRequest, "acks are for programs that a configuration names as bots")
        }
        if hello.acknowledges, hello.cursor != nil {
            throw DaemonFailure(.badRequest, "with acks the place is kept here; leave cursor out")
        }
        session.isExtended = true
        if client.origin == .socket { session.subscribes = hello.subscribes || hello.cursor != nil }
        session.isLive = session.subscribes
        var result: JSONObject = [
            "protocol": .integer(Self.extensionVersion),
            "capabilities": self.capabilities(client),
            "pubkey": .string(self.core.account.hex), "npub": .string(self.core.account.npub),
            "scope": .string((session.scope ?? .full).rawValue), "subscribed": .bool(session.subscribes),
            "cursor": .integer(self.log.last), "oldest_cursor": .integer(self.oldestCursor),
        ]
        if let cursor = hello.cursor {
            result["replay"] = .integer(self.log.last - max(cursor, self.oldestCursor - 1))
            result["gap"] = .bool(cursor + 1 < self.oldestCursor)
            session.replayFrom = max(cursor, self.oldestCursor - 1)
            session.isLive = false
        }
        if client.origin == .program {
            // A program is fed from the log by its ``Feed``.
            session.replayFrom = nil
            session.isLive = true
            result["waiting"] = .integer(self.taken.span(upTo: self.log.last))
            self.promise(hello, client)
        }
        self.sessions[client.id] = session
        self.logger.info("a client said hello", metadata: ["client": "\((hello.client ?? "").prefix(64))"])
        return Done(result: result)
    }

    private func capabilities(_ client: DaemonClient) -> JSONValue {
        switch client.origin {
        case .standard, .socket: ["cursor", "replay", "idempotency", "tokens", "subscribe"]
        case .program: ["cursor", "replay", "idempotency", "acks"]
        }
    }

    private func scope(
        of hello: DaemonCommand.Hello, _ session: DaemonSession
    ) throws(DaemonFailure) -> DaemonToken.Scope? {
        guard let text = hello.token else {
            if self.settings.requiresToken, session.client.origin == .socket {
                throw DaemonFailure(.unauthorized, "this daemon wants a token; make one: pikabot daemon token")
            }
            return nil
        }
        guard let scope = DaemonToken.scope(of: text, in: self.settings.tokens()) else {
            throw DaemonFailure(.badToken, "the token is not known")
        }
        return scope
    }

    /// Throws unless the connection may run the command.
    func authorize(_ command: DaemonCommand, _ client: DaemonClient) throws(DaemonFailure) {
        if case .hello = command { return }
        guard let session = self.sessions[client.id] else { return }
        if self.settings.requiresToken, client.origin == .socket, session.scope == nil {
            throw DaemonFailure(.unauthorized, "say hello with a token first; make one: pikabot daemon token")
        }
        if session.scope == .read, command.isMutating {
            throw DaemonFailure(.forbidden, "the token is for reading")
        }
    }

    /// Replays the events that a client has missed, then starts live delivery. A slow client delays the replay and is
    /// not dropped.
    func replay(to client: DaemonClient) async {
        guard var position = self.sessions[client.id]?.replayFrom else { return }
        self.sessions[client.id]?.replayFrom = nil
        while !client.lines.isClosed {
            guard position < self.log.last else {
                self.sessions[client.id]?.isLive = true
                return
            }
            position += 1
            // A message stored by reference may be gone; the gap in the cursors shows that it existed.
            if let event = await self.recorded(position) { await client.lines.put(event.line(cursor: position)) }
        }
    }

    func pathIfDownloaded(_ file: MediaAttachment) -> String? {
        self.localPath(of: file).flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
    }
}
