import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct OwnProfileTests {
    @Test func refreshDuringReadingWaitsForTheNext() throws {
        let account = try PublicKey(hex: String(repeating: "b", count: 64))
        let relay = try RelayURL("wss://relay.example")
        var (own, step) = (OwnProfile(), CoreStep.at(0))
        own.addRefresh(RequestID(rawValue: "1"))
        own.read(account, from: [relay], &step)
        own.read(account, from: [relay], &step)
        #expect(step.effects.count == 1)
        own.addRefresh(RequestID(rawValue: "2"))
        let outdated = own.receive([relay: .events([])], ofReading: 7, account: account, now: 0)
        let isIgnored = outdated == nil
        #expect(isIgnored)
        let answer = own.receive([relay: .failed("down")], ofReading: 1, account: account, now: 0)
        #expect(answer?.result == OwnReading.Result(at: 0, hasAnswer: false, isComplete: false))
        let drained = (0..<2).map { _ in own.drainRefreshes().map { $0?.rawValue } }
        #expect(drained == [["1"], ["2"]])
        #expect(!own.isReading && !own.hasRefreshes)
    }
}
