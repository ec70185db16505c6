import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct ReadPatienceTests {
    private let relay: RelayURL

    init() throws { self.relay = try RelayURL("wss://relay.example") }

    @Test func isExhaustedAfterThreeFailures() {
        var patience = ReadPatience()
        for _ in 1...2 { #expect(patience.fail(.relay(self.relay)) == 5000) }
        #expect(!patience.isExhausted(.relay(self.relay)))
        #expect(patience.fail(.relay(self.relay)) == 5000)
        #expect(patience.isExhausted(.relay(self.relay)))
        #expect(!patience.isExhausted(.group([1], self.relay)))
    }

    @Test func delaysDoubleUpToFiveMinutes() {
        var patience = ReadPatience()
        let delays = (1...40).map { _ in patience.fail(.group([1], self.relay)) }
        #expect(delays.prefix(10) == [5000, 5000, 5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
        #expect(delays.dropFirst(8).allSatisfy { $0 == 300_000 })
    }

    @Test func successStartsAnew() {
        var patience = ReadPatience()
        for _ in 1...9 { _ = patience.fail(.relay(self.relay)) }
        patience.succeed(.relay(self.relay))
        #expect(!patience.isExhausted(.relay(self.relay)))
        #expect(patience.fail(.relay(self.relay)) == 5000)
    }

    @Test func newConnectionGrantsOneAttempt() {
        var patience = ReadPatience()
        patience.renew(.relay(self.relay))
        for _ in 1...9 { _ = patience.fail(.relay(self.relay)) }
        patience.renew(.relay(self.relay))
        #expect(!patience.isExhausted(.relay(self.relay)))
        #expect(patience.fail(.relay(self.relay)) == 5000)
        #expect(patience.isExhausted(.relay(self.relay)))
    }

    @Test func departedGroupIsForgotten() {
        var patience = ReadPatience()
        for _ in 1...3 {
            _ = patience.fail(.group([1], self.relay))
            _ = patience.fail(.group([2], self.relay))
        }
        patience.forget([1])
        #expect(!patience.isExhausted(.group([1], self.relay)))
        #expect(patience.isExhausted(.group([2], self.relay)))
    }
}
