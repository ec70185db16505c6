import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

struct KeyPackageChoiceTests {
    private static let now: UnixTime = 1_788_718_800

    // MARK: Lifetimes

    /// The recorded verdicts of MDK's inviter.
    private static let verdicts: [(UInt64, UInt64, MarmotError.Code?)] = [
        (1_788_715_200, 1_795_976_400, nil), (1_788_708_800, 1_788_711_599, .expired),
        (1_788_726_001, 1_788_728_800, .notYetValid), (1_788_715_200, 1_795_976_401, .incompatible),
    ]

    @Test(arguments: verdicts) func lifetimesMatchMDK(start: UInt64, end: UInt64, code: MarmotError.Code?) throws {
        let lifetime = Lifetime(notBefore: start, notAfter: end)
        guard let code else { return try KeyPackageSchedule.requireInvitable(lifetime, now: Self.now) }
        expectError(code) { try KeyPackageSchedule.requireInvitable(lifetime, now: Self.now) }
    }

    @Test func ownLifetimesAreTheLongest() throws {
        let lifetime = KeyPackageSchedule.lifetime(now: Self.now)
        #expect(lifetime == Lifetime(notBefore: 1_788_715_200, notAfter: 1_795_976_400))
        try KeyPackageSchedule.requireInvitable(lifetime, now: Self.now)
        #expect(KeyPackageSchedule.lifetime(now: -5).notBefore == 0)
    }

    @Test func theLastSecondDoesNotCount() throws {
        let lifetime = Lifetime(notBefore: 100, notAfter: 200)
        try KeyPackageSchedule.requireCurrent(lifetime, now: 100)
        try KeyPackageSchedule.requireCurrent(lifetime, now: 199)
        expectError(.expired) { try KeyPackageSchedule.requireCurrent(lifetime, now: 200) }
        expectError(.notYetValid) { try KeyPackageSchedule.requireCurrent(lifetime, now: 99) }
    }

    @Test func hostileLifetimesDoNotTrap() throws {
        let endless = Lifetime(notBefore: 0, notAfter: .max)
        try KeyPackageSchedule.requireCurrent(endless, now: .distantFuture)
        expectError(.incompatible) { try KeyPackageSchedule.requireInvitable(endless, now: .distantFuture) }
        expectError(.expired) {
            try KeyPackageSchedule.requireInvitable(Lifetime(notBefore: 10, notAfter: 5), now: 20)
        }
    }

    // MARK: Choice

    private struct Lab {
        var rng = SplitMix64(seed: 3)
        let author: KeyPair

        init() { self.author = KeyPair.generate(using: &self.rng) }

        mutating func event(
            _ slot: String, at time: UnixTime, client: String? = nil, content: String = "ordinary", kind: Kind = 30443
        ) -> Event {
            UnsignedEvent(
                pubkey: self.author.publicKey, createdAt: time, kind: kind,
                tags: [Tag("d", slot)] + (client.map { [Tag("client", $0)] } ?? []), content: content
            ).signed(by: self.author, using: &self.rng)
        }

        func choose(_ events: [Event]) -> KeyPackageChoice<String> {
            KeyPackageChoice(among: events, of: self.author.publicKey, now: 1000) {
                event throws(KeyPackageFailure) -> (package: String, isLastResort: Bool) in
                guard event.content != "bad" else {
                    throw KeyPackageFailure(.structure, MarmotError(.mls, "bad"))
                }
                return (event.content, event.content == "last resort")
            }
        }
    }

    @Test func onlyTheNewestOfASlotCounts() throws {
        var lab = Lab()
        let (old, new) = (lab.event("a", at: 10), lab.event("a", at: 20, content: "bad"))
        let choice = lab.choose([old, new])
        #expect(choice.best == nil && choice.rejections.map(\.event) == [new.id])
        #expect(choice.rejections.first?.failure.check == .structure)
        let same = (0..<4).map { lab.event("b", at: 10, content: "\($0)") }
        let best = try #require(lab.choose(same + same).best)
        #expect(best.event.id == same.map(\.id).min())
    }

    @Test func badEventsDoNotSpoilOtherSlots() throws {
        var lab = Lab()
        let good = lab.event("a", at: 10)
        let bad = [lab.event("b", at: 20, content: "bad"), lab.event("c", at: 30, content: "bad")]
        let choice = lab.choose([bad[0], good, bad[1]])
        #expect(choice.candidates.map(\.event.id) == [good.id] && choice.rejections.count == 2)
    }

    @Test func ignoresForeignFutureAndOtherEvents() {
        var (lab, other) = (Lab(), Lab())
        other.rng = SplitMix64(seed: 4)
        let stranger = UnsignedEvent(
            pubkey: KeyPair.generate(using: &other.rng).publicKey, createdAt: 10, kind: 30443, content: "")
        let foreign = stranger.signed(by: KeyPair.generate(using: &other.rng), using: &other.rng)
        let future = lab.event("a", at: 1301)
        let present = lab.event("a", at: 1300)
        let former = lab.event("b", at: 10, kind: 443)
        let choice = lab.choose([foreign, future, former, present])
        #expect(choice.candidates.map(\.event.id) == [present.id] && choice.rejections.isEmpty)
    }

    @Test func forgedEventsHideNothing() {
        var lab = Lab()
        let good = lab.event("a", at: 10)
        let forged = Event(
            id: good.id, pubkey: good.pubkey, createdAt: 20, kind: good.kind, tags: good.tags, content: "ordinary",
            signature: good.signature)
        let choice = lab.choose([forged, good])
        #expect(choice.best?.event == good)
        #expect(choice.rejections.map(\.failure.check) == [.eventSignature])
    }

    @Test func ranksByProgramThenKindThenTime() {
        var lab = Lab()
        let events = [
            lab.event("a", at: 900, client: "amethyst"), lab.event("b", at: 100, content: "last resort"),
            lab.event("c", at: 50), lab.event("d", at: 60, client: "other"),
            lab.event("e", at: 10, client: "WhiteNoise", content: "last resort"),
        ]
        #expect(
            lab.choose(events).candidates.map(\.event.id)
                == [events[4].id, events[3].id, events[2].id, events[1].id, events[0].id])
        #expect(lab.choose(events.reversed()).candidates.map(\.event) == lab.choose(events).candidates.map(\.event))
    }
}
