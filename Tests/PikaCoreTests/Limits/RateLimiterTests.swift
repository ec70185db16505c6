import Testing

@testable import PikaCore

private let start: Int64 = 1_800_000_000_000

@Suite struct RateLimiterTests {
    /// A limiter that can be called inside an expectation.
    private final class Box<Key: Hashable & Sendable> {
        var limiter: RateLimiter<Key>

        init(capacity: Int = 4_096) { limiter = RateLimiter(capacity: capacity) }

        /// Returns how many of this many attempts are admitted.
        func admitted(_ key: Key, _ limit: RateLimit, at milliseconds: Int64 = 0, tries: Int = 1) -> Int {
            (0..<tries).filter { _ in limiter.consume(key, limit, nowMilliseconds: start + milliseconds) }.count
        }

        func allows(_ key: Key, _ limit: RateLimit) -> Bool { limiter.allows(key, limit, nowMilliseconds: start) }
    }

    @Test func allowsBurstThenRefillsEvenly() {
        let box = Box<String>()
        let limit = RateLimit(6, per: .seconds(60))
        #expect(box.admitted("a", limit, at: 0, tries: 100) == 6)
        #expect(box.admitted("a", limit, at: 9_999, tries: 100) == 0)
        #expect(box.admitted("a", limit, at: 10_000, tries: 100) == 1)
        #expect(box.admitted("a", limit, at: 35_000, tries: 100) == 2)
        // The half left over at 35 s and the half refilled since make one.
        #expect(box.admitted("a", limit, at: 40_000, tries: 100) == 1)
        #expect(box.admitted("a", limit, at: 3_600_000, tries: 100) == 6)
    }

    @Test func limitsEachKeySeparately() {
        let box = Box<String>()
        let limit = RateLimit(2, per: .seconds(1))
        #expect(box.admitted("a", limit, at: 0, tries: 5) == 2)
        #expect(box.admitted("b", limit, at: 0, tries: 5) == 2)
    }

    @Test func queryConsumesNoAllowance() {
        let box = Box<String>()
        let limit = RateLimit(1, per: .seconds(1))
        for _ in 0..<5 { #expect(box.allows("a", limit)) }
        #expect(box.admitted("a", limit) == 1)
        #expect(!box.allows("a", limit))
    }

    @Test func clockSetBackCostsOnePeriod() {
        let box = Box<String>()
        let limit = RateLimit(2, per: .seconds(10))
        #expect(box.admitted("a", limit, at: 86_400_000, tries: 5) == 2)
        #expect(box.admitted("a", limit, at: 0, tries: 5) == 0)
        #expect(box.admitted("a", limit, at: 10_000, tries: 5) == 2)
    }

    @Test(arguments: [
        (RateLimit(0, per: .seconds(1)), 0), (RateLimit(-5, per: .seconds(1)), 0), (RateLimit(.max, per: .zero), 1),
        (RateLimit(3, per: .seconds(-1)), 1), (RateLimit(3, per: .seconds(Int64.max)), 3),
    ])
    func boundaryLimitsAreHonoured(limit: RateLimit, expected: Int) {
        let box = Box<String>()
        #expect(box.admitted("a", limit, at: 0, tries: 50) == expected)
        #expect(box.admitted("b", RateLimit(0, per: .seconds(1)), at: 1 << 62) == 0)
    }

    @Test func boundsMemoryKeepingEntryInUse() {
        let box = Box<Int>(capacity: 10)
        let limit = RateLimit(1, per: .seconds(3600))
        #expect(box.admitted(-1, limit) == 1)
        for key in 0..<1_000 {
            #expect(box.admitted(key, limit) == 1)
            #expect(box.admitted(-1, limit) == 0, "the key must be remembered after \(key)")
        }
    }

    @Test func keepsRecentEntriesOnly() {
        var entries = RecentEntries<Int, Int>(capacity: 4)
        for key in 0..<100 {
            entries[key] = key
            #expect(entries.count <= 8)
        }
        let newest = (96..<100).map { entries[$0] }
        #expect(newest == [96, 97, 98, 99])
        let oldest = entries[50]
        #expect(oldest == nil)
        entries[99] = nil
        let deleted = entries[99]
        #expect(deleted == nil)
    }
}
