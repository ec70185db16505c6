import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct CopyFenceTests {
    private let relay: RelayURL
    private let own = StoredInstance(id: [1], generation: 5)
    private var fence = CopyFence()

    init() throws { self.relay = try RelayURL("wss://relay.example") }

    private func verdict(
        on instance: StoredInstance, startedAt: Int64 = 2000, isLive: Bool = true
    ) -> CopyFence.Verdict {
        var fence = self.fence
        return fence.verdict(
            on: CopyNotice(instance, startedAt: startedAt), createdAt: 2, isLive: isLive, instance: self.own, now: 2)
    }

    @Test mutating func holdsGroupsUntilRelayIsRead() {
        #expect(!self.fence.isClosed)
        self.fence.start(atMilliseconds: 1000)
        #expect(self.fence.isClosed && !self.fence.isDue(at: self.relay))
        let notices = self.fence.receive([], from: self.relay)
        #expect(notices.isEmpty && self.fence.isDue(at: self.relay))
        let time = self.fence.announce(to: [self.relay], now: 7)
        #expect(time == 7 && !self.fence.isClosed && !self.fence.isDue(at: self.relay))
    }

    @Test mutating func yieldsToLaterCopy() {
        let later = StoredInstance(id: [2], generation: 6)
        #expect(self.verdict(on: later) == .ignore)
        self.fence.start(atMilliseconds: 1000)
        #expect(self.verdict(on: later) == .yield)
        #expect(self.verdict(on: StoredInstance(id: [2], generation: 5)) == .yield)
    }

    @Test mutating func answersEarlierCopyWhenLive() {
        let earlier = StoredInstance(id: [2], generation: 4)
        self.fence.start(atMilliseconds: 1000)
        #expect(self.verdict(on: earlier) == .ignore)
        _ = self.fence.announce(to: [self.relay], now: 7)
        #expect(self.verdict(on: earlier) == .announce([self.relay]))
        #expect(self.verdict(on: earlier, isLive: false) == .ignore)
    }

    @Test mutating func yieldsToLaterRunOfSameCopy() {
        self.fence.start(atMilliseconds: 1000)
        _ = self.fence.announce(to: [self.relay], now: 7)
        #expect(self.verdict(on: self.own, startedAt: 2000) == .yield)
        #expect(self.verdict(on: self.own, startedAt: 500) == .ignore)
        #expect(self.verdict(on: self.own, startedAt: 2000, isLive: false) == .ignore)
    }

    @Test mutating func ownNoticesSurviveRestart() throws {
        let id = try EventID(bytes: [UInt8](repeating: 3, count: 32))
        let memo = self.fence.rememberOwn(id, relayCount: 1)
        var restored = CopyFence()
        let isRestored = restored.restoreOwn(memo)
        restored.start(atMilliseconds: 1000)
        #expect(isRestored && !restored.admits(id))
    }
}
