import Testing

@testable import MLS

@Suite struct EpochTests {
    @Test func stepsSaturateAtBothEnds() {
        #expect(Epoch.max.later(by: 1) == .max && Epoch(rawValue: .max - 3).later(by: 5) == .max)
        #expect(Epoch.first.earlier(by: 1) == .first && Epoch(rawValue: 3).earlier(by: .max) == .first)
        #expect(Epoch.max.later(by: -1) == .max && Epoch.first.earlier(by: -1) == .first)
        #expect(Epoch.max.next == nil && Epoch.first.previous == nil)
        #expect(Epoch.first.next == 1 && Epoch(rawValue: 1).previous == .first)
    }

    @Test func distancesNeverTrap() {
        #expect(Epoch.max.distance(since: .first) == .max)
        #expect(Epoch.first.distance(since: .max) == 0)
        #expect(Epoch.max.distance(since: Epoch(rawValue: .max - 4)) == 4)
    }

    @Test(arguments: [Epoch.max, .highestJoinable, 5])
    func recentAndLaterEpochsAreWithinAge(_ newest: Epoch) {
        #expect(newest.earlier(by: 5).isWithin(5, of: newest) && newest.isWithin(5, of: newest))
        #expect(newest.later(by: 9).isWithin(5, of: newest))
        #expect(!newest.earlier(by: 6).isWithin(5, of: newest) || newest == 5)
    }

    @Test func onlyTheNextEpochFollows() {
        #expect(Epoch(rawValue: 6).isFollowed(by: 7) && !Epoch(rawValue: 7).isFollowed(by: 7))
        #expect(!Epoch.max.isFollowed(by: .first) && !Epoch.max.isFollowed(by: .max))
    }

    @Test func bytesRoundTrip() {
        for epoch in [Epoch.first, 1, 0x0102_0304_0506_0708, .max] {
            #expect(Epoch(bytes: epoch.bytes) == epoch && Epoch(epoch.description) == epoch)
        }
        #expect(Epoch(bytes: []) == nil && Epoch(bytes: [UInt8](repeating: 0, count: 9)) == nil && Epoch("-1") == nil)
    }
}
