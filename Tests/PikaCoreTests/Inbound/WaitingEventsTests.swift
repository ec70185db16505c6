import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct WaitingEventsTests {
    private let groupID = GroupID([1])
    private let route: Bytes32
    private let event: Event
    private var step = CoreStep(
        nowMilliseconds: 1_000_000, monotonicMilliseconds: 1_000_000, random: CoreRandom(SystemRandomNumberGenerator()))
    private var waiting = WaitingEvents()

    /// An event 1000 seconds ahead of the clock.
    init() {
        var random = SystemRandomNumberGenerator()
        let keys = KeyPair.generate(using: &random)
        self.route = .random(using: &random)
        self.event = UnsignedEvent(
            pubkey: keys.publicKey, createdAt: 2000, kind: .groupEvent, tags: [Nostr.Tag("h", self.route.hex)],
            content: ""
        ).signed(by: keys, using: &random)
    }

    private mutating func park(_ reason: WaitingReason) -> Bool {
        self.waiting.park(
            self.event, under: self.route, triedBy: self.groupID, reason, OuterKeyRing(), chatID: nil, &self.step)
    }

    @Test mutating func parksOnce() {
        let results = [self.park(.noKey), self.park(.noKey)]
        #expect(results == [true, false] && self.step.changes.count == 1 && self.waiting.total.events == 1)
        #expect(self.waiting.hasUnopened(under: [self.route]))
        let routes = [
            self.waiting.remove(self.event.id, &self.step), self.waiting.remove(self.event.id, &self.step),
        ]
        #expect(routes == [self.route, nil] && self.step.changes.count == 2 && self.waiting.total.bytes == 0)
    }

    @Test mutating func eventsAheadOfClockAreDueOnce() {
        _ = self.park(.futureTime)
        self.waiting.awaitClock(self.event, &self.step)
        let wakes = self.step.effects.count { if case .wake(.clock, _) = $0 { true } else { false } }
        #expect(wakes == 1 && self.waiting.earlyCount == 1)
        let due = [self.step.now, 2000, 2000].map { self.waiting.dueRoutes(now: $0) }
        #expect(due == [[], [self.route], []])
    }

    @Test mutating func restoresEventsAheadOfClock() {
        self.waiting.restore(WaitingEvent(event: self.event, arrivedAt: 1000), under: self.route)
        self.waiting.restore(WaitingEvent(event: self.event, arrivedAt: 1000), under: self.route)
        #expect(self.waiting.earlyCount == 1 && self.waiting.contains(self.event.id))
        self.waiting.removeAll(under: self.route, &self.step)
        #expect(self.waiting.earlyCount == 0 && self.waiting.isEmpty(under: [self.route]))
    }
}
