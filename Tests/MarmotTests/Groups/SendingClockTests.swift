import MLS
import Nostr
import Testing

@testable import Marmot

@Suite struct SendingClockTests {
    private static let now: UnixTime = 1_800_000_000

    @Test func eventsHaveDistinctSeconds() {
        var clock = SendingClock()
        let times = [
            clock.messageTime(now: Self.now), clock.messageTime(now: Self.now), clock.handshakeTime(now: Self.now),
            clock.messageTime(now: Self.now), clock.handshakeTime(now: Self.now), clock.handshakeTime(now: Self.now),
        ]
        #expect(times == (0..<6).map { Self.now + $0 })
        #expect(clock.messageTime(now: Self.now + 60) == Self.now + 60)
    }

    @Test func burstsStayNearTheClock() {
        var clock = SendingClock()
        for _ in 0..<1000 { #expect(clock.messageTime(now: Self.now) <= Self.now + SendingClock.maximumBurstLead) }
        let commit = clock.handshakeTime(now: Self.now)
        #expect(commit == Self.now + SendingClock.maximumBurstLead + 1)
        for _ in 0..<1000 { #expect(clock.messageTime(now: Self.now) == commit + 1) }
    }

    @Test func followsCommitsOfOthers() {
        var clock = SendingClock()
        clock.follow(Self.now + 30)
        clock.follow(Self.now - 30)
        #expect(clock.messageTime(now: Self.now) == Self.now + 31)
        #expect(clock.handshakeTime(now: Self.now) == Self.now + 32)
    }

    @Test(arguments: [.distantFuture, .distantFuture - 1, 1_900_000_000] as [UnixTime])
    func boundsTheLeadOverTheClock(_ time: UnixTime) {
        var clock = SendingClock()
        clock.follow(time)
        #expect(clock.messageTime(now: Self.now) == Self.now + SendingClock.maximumLead)
        #expect(clock.handshakeTime(now: Self.now) == Self.now + SendingClock.maximumLead)
        #expect(clock.messageTime(now: .distantFuture) == .distantFuture)
        #expect(clock.handshakeTime(now: .distantFuture) == .distantFuture)
    }

    /// A commit that all members apply.
    private func commit(by author: Int, _ lab: inout Lab) throws -> Event {
        let event = try lab.commit(.selfUpdate, by: author)
        _ = try lab.groups[author].mergePending()
        for member in lab.groups.indices where member != author {
            #expect(lab.deliver(event, to: member).label == "commit")
        }
        return event
    }

    /// A catch-up that reads one second's events by id must not meet a message before the commit that it follows.
    @Test func laterEventsFollowTheCommitTime() throws {
        var lab = try Lab(3, admins: [0])
        let before = try lab.say("before", from: 1)
        let commit = try self.commit(by: 0, &lab)
        let own = try lab.say("own", from: 0)
        let other = try lab.say("other", from: 1)
        #expect(before.createdAt == lab.now)
        #expect(own.createdAt > commit.createdAt && other.createdAt > commit.createdAt)
        #expect(other.createdAt > before.createdAt)
    }

    @Test func commitIsLaterThanItsProposals() throws {
        var lab = try Lab(3, admins: [0])
        lab.now += 100
        let leave = try lab.groups[2].leave(now: lab.now, using: &lab.rng)
        #expect(lab.deliver(leave, to: 0).label == "proposal/commit_due")
        let commit = try lab.groups[0].commit(.commitDepartures, client: "test", now: lab.now, using: &lab.rng)
        #expect(commit.event.createdAt > leave.createdAt)
    }

    @Test func restartKeepsTheOrder() throws {
        var lab = try Lab(2, admins: [0])
        let commit = try self.commit(by: 0, &lab)
        var group = lab.groups[1]
        group.markAllChanged()
        let stored = group.drainChanges()
        lab.groups[1] = try MarmotGroup(
            header: #require(stored.header), records: stored.mls.records.compactMapValues { $0 },
            parts: stored.parts.compactMapValues { $0 }, account: group.account)
        #expect(try lab.say("after", from: 1).createdAt > commit.createdAt)
    }
}
