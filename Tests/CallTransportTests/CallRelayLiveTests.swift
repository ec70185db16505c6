import CallMedia
import CallTransport
import EmbeddedRelay
import LiveTesting
import Logging
import NetworkAddresses
import PikaCore
import Testing

/// Two clients over a real relay and real sockets.
@Suite(.live)
struct CallRelayLiveTests {
    private static let track = CallTrackAddress(path: "pika/calls/1/label", track: "audio0")

    private static var transport: CallRelayTransport {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return CallRelayTransport(addresses: .unrestricted, clock: SystemClock(), logger: quiet)
    }

    private func withConnections(
        _ body: (Relay, any CallMediaConnection, any CallMediaConnection) async throws -> Void
    ) async throws {
        var configuration = RelayConfiguration()
        configuration.servesCalls = true
        try await withEmbeddedRelay(configuration: configuration) { relay, address in
            let first = try await Self.transport.connect(to: address + "/calls")
            let second = try await Self.transport.connect(to: address + "/calls")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await first.run() }
                group.addTask { try await second.run() }
                defer { group.cancelAll() }
                try await body(relay, first, second)
                await first.close()
                await second.close()
            }
        }
    }

    @Test func passesFramesInOrder() async throws {
        try await withConnections { _, first, second in
            let writer = try await first.publish(Self.track)
            let groups = try await second.subscribe(Self.track)
            let sent = (0..<20).map { CallMediaGroup(sequence: $0, payload: [UInt8](repeating: 1, count: 100)) }
            for group in sent { try await writer.write(group) }
            var received: [CallMediaGroup] = []
            for try await group in groups {
                received.append(group)
                if received.count == sent.count { break }
            }
            #expect(received == sent)
        }
    }

    @Test func endsTracksWithTheirPublisher() async throws {
        try await withConnections { relay, first, second in
            _ = try await first.publish(Self.track)
            let groups = try await second.subscribe(Self.track)
            #expect(relay.callTrackCount == 1)
            await first.close()
            for try await _ in groups {}
            #expect(relay.callTrackCount == 0)
        }
    }

    @Test(arguments: ["https://moq.example/calls", "ws://127.0.0.1:1/other", "calls", ""])
    func refusesOtherAddresses(address: String) async {
        await #expect(throws: AppCoreError.self) { _ = try await Self.transport.connect(to: address) }
    }
}
