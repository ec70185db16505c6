import Nostr
import Testing

@testable import PikaCore

@Suite struct OtherStateTests {
    /// The state that a member had before another one committed, and the events of these commits.
    private func commits(_ count: Int) throws -> (state: OtherState, events: [Event], now: UnixTime) {
        var world = try ReducerWorld(2, groupProtocol: .v2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.advance(seconds: 3)
        let state = OtherState(try #require(world[1].second?.tip))
        let before = world.relayed.count
        for number in 0..<count {
            world.act(0, .renameGroup(chatID: world[0].chatID, name: "\(number)"), "\(number)")
            world.advance(seconds: 3, offline: [1])
        }
        let events = world.relayed.dropFirst(before).filter { $0.kind == .groupEvent }
        try #require(events.count == count)
        return (state, Array(events), UnixTime(world.now / 1000))
    }

    @Test func followsCommitsInAnyOrder() throws {
        var (state, events, now) = try self.commits(4)
        #expect(state.use == nil)
        var waiting: [Event] = []
        for event in events.reversed() {
            waiting.append(event)
            state.read([event], now: now) { waiting }
        }
        #expect(state.use == events.last?.createdAt)
    }

    @Test func timesInTheFutureCountAsNow() throws {
        var (state, events, _) = try self.commits(1)
        let now = UnixTime(events[0].createdAt.seconds - 100)
        state.read(events, now: now) { events }
        #expect(state.use == now)
    }

    /// A member can send any number of commits.
    @Test func commitsCauseBoundedWork() throws {
        var (state, events, now) = try self.commits(OtherState.maximumRepetitions + 8)
        var (waiting, reads) = ([Event](), 0)
        for event in events {
            waiting.append(event)
            state.read([event], now: now) {
                reads += 1
                return waiting
            }
        }
        #expect(reads == OtherState.maximumRepetitions + 1)
        #expect(state.use == events.last?.createdAt)
    }
}
