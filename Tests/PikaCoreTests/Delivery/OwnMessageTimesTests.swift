import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

/// The order of this account's messages: strictly increasing times, whatever the clock does.
@Suite struct OwnMessageTimesTests {
    private func times(_ world: ReducerWorld) -> [UnixTime] {
        world[0].durable.messages.filter(\.isOwn).map(\.rumor.createdAt)
    }

    private func isStrictlyIncreasing(_ times: [UnixTime]) -> Bool {
        zip(times, times.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// Random sends, several in one action or handler, clock steps in both directions and restarts.
    @Test(arguments: 0..<20) func ownMessagesKeepTheirOrder(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var world = try ReducerWorld.group(2)
        var sent = 0
        for _ in 0..<60 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: world.now += Int64.random(in: 0...5000, using: &random)
            case 1: world.now -= Int64.random(in: 0...3000, using: &random)
            case 2: try world.restart(0)
            case 3:
                let chatID = world[0].chatID
                let effects = (sent..<sent + 3).map { number in
                    HandlerEffect(
                        id: "bot/\(number)/0", operation: .send(chatID: chatID, OutgoingMessage(content: "\(number)")))
                }
                sent += 3
                world.reduce(0, .effects(effects, RequestID(rawValue: "handler \(sent)")))
            default:
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    world.say(0, "\(sent)")
                    sent += 1
                }
            }
            let times = self.times(world)
            #expect(times.count == sent && self.isStrictlyIncreasing(times))
            #expect(times.last.map { $0.seconds(since: world.time) <= MessageTime.maximumLead } != false)
            world.settle()
        }
        let received = world[1].durable.messages.sorted { $0.position < $1.position }
        #expect(received.map(\.rumor.content) == (0..<sent).map { "\($0)" })
    }

    @Test func longBurstSharesTheLastSecond() throws {
        var world = try ReducerWorld.group(2)
        let start = world.time
        for number in 0..<300 { world.say(0, "\(number)") }
        let times = self.times(world)
        #expect(self.isStrictlyIncreasing(Array(times.prefix(241))))
        #expect(times[240...].allSatisfy { $0 == start + OwnMessageTimes.maximumLead })
        world.now += 1_000
        for text in ["later", "later still"] { world.say(0, text) }
        #expect(self.times(world).suffix(2) == [start + 241, start + 241])
        world.now += 10_000
        for text in ["last", "very last"] { world.say(0, text) }
        #expect(self.times(world).suffix(2) == [start + 242, start + 243])
    }

    @Test func equalBurstStaysWithinTheAllowance() throws {
        var world = try ReducerWorld.group(2)
        for number in 0..<320 {
            world.act(0, .sendMessage(chatID: world[0].chatID, OutgoingMessage(content: "same")), "\(number)")
        }
        #expect(self.isStrictlyIncreasing(self.times(world)))
        #expect(self.times(world).last == world.time + MessageTime.maximumLead)
        #expect(world[0].outcomes["300"]?.failure == nil && world[0].outcomes["301"]?.failure == .busy)
    }

    @Test func orderStartsOverAfterLongStepBack() throws {
        var world = try ReducerWorld.group(2)
        for number in 0..<3 { world.say(0, "\(number)") }
        world.now -= 86_400_000
        try world.restart(0)
        for number in 3..<6 { world.say(0, "\(number)") }
        #expect(self.times(world).suffix(3) == [world.time, world.time + 1, world.time + 2])
    }

    @Test func heldMessagesNeverOvertakeLaterOnes() {
        var times = OwnMessageTimes()
        #expect(times.next(now: 100) == 100 && times.next(now: 100, notBefore: 130) == 130)
        times.assign(100)
        times.assign(130)
        #expect(times.next(now: 120) == 131)
        #expect(times.isStale(100, now: 161) && !times.isStale(100, now: 160))
        // The first message got a new time, so the second one needs one too.
        times.assign(161)
        times.seal(161)
        #expect(times.isStale(130, now: 162) && !times.isStale(161, now: 162))
        times.follow(150)
        #expect(times.last == 161)
        times.follow(170)
        #expect(times.next(now: 162) == 171)
    }

    @Test func recordKeepsTheTimes() {
        var record = ChatRecord()
        record.times = OwnMessageTimes(last: 7, sealed: 5)
        #expect(ChatRecord(memo: record.memo) == record)
        #expect(ChatRecord(memo: ChatRecord().memo)?.times == OwnMessageTimes())
    }
}
