import Nostr
import Testing

@testable import Daemon

@Suite struct ClientSessionsTests {
    private let socket = DaemonClient(.socket)

    private static func hello(cursor: Int64? = nil, version: Int64 = 2, acks: Bool = false) -> DaemonCommand.Hello {
        DaemonCommand.Hello(
            version: version, client: nil, token: nil, cursor: cursor, subscribes: false, acknowledges: acks)
    }

    private static func context() throws -> ClientSessions.HelloContext {
        var generator = SystemRandomNumberGenerator()
        return ClientSessions.HelloContext(
            account: KeyPair.generate(using: &generator).publicKey, newestCursor: 9, oldestCursor: 4,
            waitingEvents: 0, tokens: { [] })
    }

    @Test func requiresATokenWhenConfigured() throws {
        var sessions = ClientSessions(requiresToken: true)
        sessions.attach(self.socket)
        #expect(throws: DaemonFailure.self) { try sessions.authorize(.listGroups, self.socket) }
        #expect(throws: DaemonFailure.self) { try sessions.hello(Self.hello(), self.socket, try Self.context()) }
        #expect(sessions.listeners(isNew: true).isEmpty)
    }

    @Test func replaysBeforeGoingLive() throws {
        var sessions = ClientSessions(requiresToken: false)
        sessions.attach(self.socket)
        let result = try sessions.hello(Self.hello(cursor: 1), self.socket, try Self.context())
        #expect(result?["replay"] == 6 && result?["gap"] == true)
        #expect(sessions.listeners(isNew: true).isEmpty)
        #expect(sessions.beginReplay(to: self.socket) == 3)
        #expect(sessions.beginReplay(to: self.socket) == nil)
        sessions.goLive(self.socket)
        #expect(sessions.listeners(isNew: true).count == 1 && sessions.listeners(isNew: false).isEmpty)
    }

    @Test func unsubscribedClientsGetOnlyGroupChanges() throws {
        var sessions = ClientSessions(requiresToken: false)
        sessions.attach(self.socket)
        let session = try #require(sessions.listeners(isNew: true).first)
        #expect(session.line(of: .recorded(["type": "x"]), cursor: 1) == nil)
        let line = try #require(session.line(of: .recorded(["type": "group_updated"]), cursor: 1))
        #expect(!line.contains("cursor"))
    }

    /// After a crash the core redelivers events that the log already contains.
    @Test func clientsWithCursorGetNoRepeatedEvents() throws {
        var sessions = ClientSessions(requiresToken: false)
        let standard = DaemonClient(.standard)
        sessions.attach(standard)
        #expect(sessions.listeners(isNew: false).count == 1)
        _ = try sessions.hello(Self.hello(), standard, try Self.context())
        #expect(sessions.listeners(isNew: false).count == 1)
        _ = try sessions.hello(Self.hello(cursor: 9), standard, try Self.context())
        sessions.goLive(standard)
        #expect(sessions.listeners(isNew: false).isEmpty && sessions.listeners(isNew: true).count == 1)
    }

    @Test func refusesInvalidHello() throws {
        var sessions = ClientSessions(requiresToken: false)
        sessions.attach(self.socket)
        for hello in [Self.hello(version: 1), Self.hello(cursor: 10), Self.hello(acks: true)] {
            #expect(throws: DaemonFailure.self) { try sessions.hello(hello, self.socket, try Self.context()) }
        }
        #expect(!sessions.isExtended(self.socket))
    }

    @Test func repliesToStandardOnlyWithoutHello() throws {
        var sessions = ClientSessions(requiresToken: false)
        let standard = DaemonClient(.standard)
        sessions.attach(self.socket)
        #expect(sessions.target(self.socket, standard: standard, isForStandard: true) === standard)
        _ = try sessions.hello(Self.hello(), self.socket, try Self.context())
        #expect(sessions.target(self.socket, standard: standard, isForStandard: true) === self.socket)
    }
}
