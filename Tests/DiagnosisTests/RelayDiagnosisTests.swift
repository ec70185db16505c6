import EmbeddedRelay
import LiveTesting
import NIOCore
import Nostr
import Testing

@testable import Diagnosis

@Suite(.live) struct RelayDiagnosisTests {
    private func diagnose(_ address: String, key: KeyPair? = nil, limit: Duration = .seconds(20)) async throws
        -> RelayDiagnosis.Result
    {
        let http = HTTPProbe(limit: limit)
        let result = await RelayDiagnosis(
            try RelayURL(address), account: key, authors: key.map { [$0.publicKey] } ?? [], limit: limit
        ).run(http: http)
        try await http.shutdown()
        return result
    }

    private func newKey() -> KeyPair {
        var generator = SystemRandomNumberGenerator()
        return KeyPair.generate(using: &generator)
    }

    private func level(_ check: String, _ result: RelayDiagnosis.Result) -> Finding.Level? {
        result.findings.first { $0.check == check }?.level
    }

    @Test func goodRelayPassesEveryStep() async throws {
        try await withEmbeddedRelay { _, address in
            let result = try await diagnose(address, key: newKey())
            #expect(result.findings.filter { $0.level != .ok } == [])
            #expect(
                result.findings.map(\.check) == [
                    "name", "tcp", "information", "limits", "websocket", "echo", "group messages", "invitations",
                ])
            #expect(result.stored == [])
        }
    }

    @Test func authenticatesOnRequest() async throws {
        var configuration = RelayConfiguration()
        configuration.requireAuthentication = true
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            let known = try await diagnose(address, key: newKey())
            #expect(known.findings.filter { $0.level != .ok } == [])
            #expect(level("login", known) == .ok)
            let unknown = try await diagnose(address, limit: .seconds(3))
            #expect(level("login", unknown) == .warning)
            #expect(level("group messages", unknown) == .error)
            #expect(unknown.stored == nil)
        }
    }

    @Test func readsStoredEventsPageByPage() async throws {
        var configuration = RelayConfiguration()
        configuration.limits.eventsPerFilter = 2
        configuration.limits.defaultEventsPerFilter = 2
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            let (relay, key) = (try RelayURL(address), newKey())
            let socket = try SocketAddress(ipAddress: "127.0.0.1", port: relay.port)
            let events = (Int64(0)..<5).map { ThrowawayEvent.make(.keyPackage, by: key, at: ThrowawayEvent.now - $0) }
            let accepted = await RelayConnections.serve(relay, login: { _, _ in nil }) { connections in
                guard let wire = try? await connections.open(socket, within: .seconds(20)) else { return 0 }
                return await wire.publish(events, by: .now + .seconds(20)).count { $0.0.isAccepted }
            }
            #expect(accepted == events.count)
            let result = try await diagnose(address, key: key)
            #expect(Set((result.stored ?? []).map(\.id)) == Set(events.map(\.id)))
        }
    }

    @Test func readsAdvertisedLimits() async throws {
        var configuration = RelayConfiguration()
        configuration.limits.messageBytes = 20_000
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            let result = try await diagnose(address)
            #expect(level("limits", result) == .warning)
        }
    }

    @Test func reportsClosedPort() async throws {
        // A port that was free a moment ago.
        let address = try await withEmbeddedRelay { _, address in address }
        let result = try await diagnose(address, limit: .seconds(3))
        #expect(result.findings.map(\.check) == ["name", "tcp"])
        #expect(level("tcp", result) == .error)
        #expect(result.findings.last?.text.hasSuffix(": 127.0.0.1: Connection refused") == true)
    }

    @Test func reportsUnknownHostName() async throws {
        let result = try await diagnose("wss://relay.invalid", limit: .seconds(3))
        #expect(result.findings.map(\.check) == ["name"])
        #expect(result.findings.map(\.level) == [.error])
    }

    @Test func reportsServerWithoutWebSocket() async throws {
        try await withPlainServer { port in
            let result = try await diagnose("ws://127.0.0.1:\(port)", limit: .seconds(5))
            #expect(level("information", result) == .warning)
            #expect(level("websocket", result) == .error)
            let http = HTTPProbe(limit: .seconds(5))
            let listen = await ListenFindings.run(host: "127.0.0.1", port: port, http: http)
            #expect(listen.map(\.text) == ["in use by another program"])
            try await http.shutdown()
        }
    }

    @Test func checksListenAddress() async throws {
        let http = HTTPProbe()
        let free = await ListenFindings.run(host: "127.0.0.1", port: 0, http: http)
        #expect(free.map(\.level) == [.ok])
        let foreign = await ListenFindings.run(host: "192.0.2.1", port: 0, http: http)
        #expect(foreign.map(\.text) == ["not an address of this machine"])
        try await http.shutdown()
    }
}
