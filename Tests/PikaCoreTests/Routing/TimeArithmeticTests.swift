import LiveTesting
import Nostr
import Testing

@testable import PikaCore

/// Times at the ends of their range never trap.
@Suite struct TimeArithmeticTests {
    @Test(arguments: [.distantPast, -1, 0, .distantFuture] as [UnixTime])
    func expirationsOfOwnMessagesDoNotTrap(_ time: UnixTime) throws {
        var world = try ReducerWorld.group(2)
        world.act(
            0,
            .sendMessage(
                chatID: world[0].chatID, OutgoingMessage(content: "x", tags: [.expiration(at: time)])), "send")
        world.settle()
        world.advance(seconds: 1)
        #expect(world[0].outcomes["send"]?.failure == nil)
    }

    @Test func listsAtMaximumTimeDoNotTrap() throws {
        var world = try ReducerWorld.group(2)
        let list = UnsignedEvent(pubkey: world[0].key, createdAt: .distantFuture, kind: .inboxRelays, content: "")
            .signed(by: world[0].keys, using: &world.random)
        world.accounts[0].model.keyPackages.restore(RelayListRecord(event: list))
        let step = CoreStep(
            nowMilliseconds: world.now, monotonicMilliseconds: world.now, random: CoreRandom(SplitMix64(seed: 1)))
        #expect(world[0].model.relayListDraft(.inboxRelays, step).createdAt == .distantFuture)
    }

    @Test func longDurationsDoNotTrap() {
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeMilliseconds == .min)
        let almost = Duration(secondsComponent: .max / 1000, attosecondsComponent: 999_000_000_000_000_000)
        #expect(almost.wholeMilliseconds == .max)
    }
}
