import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct ReadRetriesTests {
    private let relay: RelayURL

    init() throws { self.relay = try RelayURL("wss://relay.example") }

    @Test func isExhaustedAfterThreeFailures() {
        var retries = ReadRetries()
        for _ in 1...2 { #expect(retries.fail(.relay(self.relay)) == 5000) }
        #expect(!retries.isExhausted(.relay(self.relay)))
        #expect(retries.fail(.relay(self.relay)) == 5000)
        #expect(retries.isExhausted(.relay(self.relay)))
        #expect(!retries.isExhausted(.group([1], self.relay)))
    }

    @Test func delaysDoubleUpToFiveMinutes() {
        var retries = ReadRetries()
        let delays = (1...40).map { _ in retries.fail(.group([1], self.relay)) }
        #expect(delays.prefix(10) == [5000, 5000, 5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
        #expect(delays.dropFirst(8).allSatisfy { $0 == 300_000 })
    }

    @Test func successResetsRetries() {
        var retries = ReadRetries()
        for _ in 1...9 { _ = retries.fail(.relay(self.relay)) }
        retries.succeed(.relay(self.relay))
        #expect(!retries.isExhausted(.relay(self.relay)))
        #expect(retries.fail(.relay(self.relay)) == 5000)
    }

    @Test func newConnectionGrantsOneAttempt() {
        var retries = ReadRetries()
        retries.renew(.relay(self.relay))
        for _ in 1...9 { _ = retries.fail(.relay(self.relay)) }
        retries.renew(.relay(self.relay))
        #expect(!retries.isExhausted(.relay(self.relay)))
        #expect(retries.fail(.relay(self.relay)) == 5000)
        #expect(retries.isExhausted(.relay(self.relay)))
    }

    @Test func departedGroupIsForgotten() {
        var retries = ReadRetries()
        for _ in 1...3 {
            _ = retries.fail(.group([1], self.relay))
            _ = retries.fail(.group([2], self.relay))
        }
        retries.forget([1])
        #expect(!retries.isExhausted(.group([1], self.relay)))
        #expect(retries.isExhausted(.group([2], self.relay)))
    }
}
