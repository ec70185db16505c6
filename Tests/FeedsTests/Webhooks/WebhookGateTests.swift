import BotTesting
import LiveTesting
import Nostr
import PikaCore
import Testing

@testable import FeedRules
@testable import Feeds

@Suite(.bounded)
struct WebhookGateTests {
    private let token = "0123456789abcdef"

    private func makeBench(_ sink: FakeSink) throws -> (gate: WebhookGate, bench: FeedBench) {
        let settings = WebhookSettings(authentication: .bearer(try #require(WebhookToken(token))))
        let bench = FeedBench(.webhook(settings), sink: sink, clock: ManualClock())
        return (WebhookGate(settings, outlet: bench.outlet), bench)
    }

    private func headers(_ id: String) -> WebhookHeaders? {
        WebhookHeaders { name in
            switch name {
            case "authorization": ["Bearer \(token)"]
            case "webhook-id": [id]
            case "content-type": ["text/plain"]
            default: []
            }
        }
    }

    @Test func successMeansStored() async throws {
        let (gate, bench) = try makeBench(FakeSink())
        let answer = await gate.answer(headers("1"), body: [0x61])
        let item = try #require(bench.sink.items.first)
        #expect(answer == .stored(item.eventID) && item.contentType == "text/plain" && item.text == "a")
        #expect(await gate.answer(headers("1"), body: [0x61]) == .duplicate(id: "1"))
        #expect(bench.sink.items.count == 1 && bench.status.duplicates == 1)
    }

    @Test func fullInboxMayBeTriedAgain() async throws {
        let (gate, bench) = try makeBench(FakeSink(.full, .closed))
        #expect(await gate.answer(headers("1"), body: []) == .refused(.full))
        #expect(await gate.answer(headers("1"), body: []) == .refused(.ending))
        let answer = await gate.answer(headers("1"), body: [])
        #expect(answer.status == 202 && bench.sink.items.count == 1)
    }

    @Test func refusesBeforeStoring() async throws {
        let (gate, bench) = try makeBench(FakeSink())
        #expect(await gate.answer(nil, body: []) == .refused(.malformed))
        #expect(
            await gate.answer(headers("1"), body: [UInt8](repeating: 0, count: 65)) == .refused(.tooLarge(limit: 64)))
        var forged = headers("1")
        forged?.token = "wrong"
        #expect(await gate.answer(forged, body: []) == .refused(.forged))
        #expect(bench.sink.items.isEmpty && bench.status.errors == 3)
    }
}
