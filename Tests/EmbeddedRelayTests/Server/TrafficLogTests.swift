import LiveTesting
import Logging
import Nostr
import Synchronization
import Testing

@testable import EmbeddedRelay

/// Collects logged lines.
private final class Lines: Sendable {
    private let kept = Mutex<[String]>([])
    var all: [String] { kept.withLock { $0 } }

    func logger() -> Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { lines.kept.withLock { $0.append("\(event.message)") } }
    }
}

@Suite(.live) struct TrafficLogTests {
    @Test func writesOneLinePerEntry() {
        let lines = Lines()
        let log = TrafficLog(lines.logger())
        let event = Author.alice.event(
            "two\nlines\u{1b}[2J", tags: [Nostr.Tag("h", "group"), Nostr.Tag("d", "a\nb")])
        let rest = "kind=1 id=\(event.id.hex) pubkey=\(event.pubkey.hex) tags=h=group,d=a\\nb"
        log.connected("127.0.0.1")
        log.requested([Filter(kinds: [1]), Filter()], by: "::1")
        log.received(event, from: "127.0.0.1")
        log.committed([
            (GroupCommit.Submission(event: event, json: [], origin: 1), .stored(sequence: 1)),
            (GroupCommit.Submission(event: event, json: [], origin: 1), .duplicate),
        ])
        log.disconnected("127.0.0.1")
        #expect(
            lines.all == [
                "[relay/ws] connect ip=127.0.0.1", #"[relay/ws] req ip=::1 filter={"kinds":[1]}"#,
                "[relay/ws] req ip=::1 filter={}",
                "[relay/ws] event_recv ip=127.0.0.1 \(rest) content=two\\nlines\\u{1B}[2J",
                "[relay/ws] event_saved \(rest)", "[relay/ws] disconnect ip=127.0.0.1",
            ])
    }

    @Test func truncatesLongEntries() {
        let lines = Lines()
        let event = Author.alice.event(String(repeating: "x", count: 5000))
        TrafficLog(lines.logger()).received(event, from: "a")
        TrafficLog(lines.logger()).requested([Filter(ids: Array(repeating: event.id, count: 100))], by: "a")
        #expect(lines.all.count == 2)
        #expect(lines.all.allSatisfy { $0.hasSuffix("...(truncated)") && $0.count < 700 })
    }

    @Test func logsOnlyWhenConfigured() async throws {
        for isConfigured in [true, false] {
            let lines = Lines()
            var configuration = RelayConfiguration()
            configuration.logsEvents = isConfigured
            try await withEmbeddedRelay(configuration: configuration, logger: lines.logger()) { _, address in
                let client = try await TestClient.connect(address)
                #expect(try await client.publish(Author.alice.event()).accepted)
                try await client.close()
            }
            let kinds = lines.all.filter { $0.hasPrefix("[relay/ws]") }.map { $0.split(separator: " ")[1] }
            #expect(kinds == (isConfigured ? ["connect", "event_recv", "event_saved", "disconnect"] : []))
        }
    }
}
