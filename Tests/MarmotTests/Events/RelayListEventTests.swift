import LiveTesting
import Nostr
import Testing

@testable import Marmot

struct RelayListEventTests {
    private func keys(_ seed: UInt64) -> KeyPair {
        var rng = SplitMix64(seed: seed)
        return KeyPair.generate(using: &rng)
    }

    private func list(_ kind: Kind, _ relays: [String], by keys: KeyPair, at time: UnixTime = Lab.start) throws -> Event
    {
        var rng = SplitMix64(seed: 9)
        return RelayListEvents.event(
            kind, relays: try relays.map { try RelayURL($0) }, by: keys, now: time, using: &rng)
    }

    @Test(arguments: [Kind.keyPackageRelays, .inboxRelays])
    func listHasOneTagPerRelay(_ kind: Kind) throws {
        let keys = self.keys(1)
        let event = try self.list(kind, ["wss://one.example/", "ws://127.0.0.1:7777"], by: keys)
        try event.verify()
        #expect(event.kind == kind && event.pubkey == keys.publicKey && event.createdAt == Lab.start)
        #expect(event.content == "")
        #expect(event.tags.map(\.values) == [["relay", "wss://one.example/"], ["relay", "ws://127.0.0.1:7777"]])
        #expect(
            RelayListEvents.relays(kind, of: keys.publicKey, in: [event])?.map(\.string)
                == ["wss://one.example/", "ws://127.0.0.1:7777"])
    }

    @Test func newestListOfAuthorAndKindWins() throws {
        let keys = self.keys(1)
        let events = [
            try self.list(.keyPackageRelays, ["wss://new.example"], by: keys, at: 20),
            try self.list(.keyPackageRelays, ["wss://old.example"], by: keys, at: 10),
            try self.list(.inboxRelays, ["wss://inbox.example"], by: keys, at: 30),
            try self.list(.keyPackageRelays, ["wss://other.example"], by: self.keys(2), at: 40),
        ]
        for order in [events, events.reversed()] {
            #expect(
                RelayListEvents.relays(.keyPackageRelays, of: keys.publicKey, in: order)?.map(\.string)
                    == ["wss://new.example"])
        }
        #expect(RelayListEvents.relays(.keyPackageRelays, of: self.keys(3).publicKey, in: events) == nil)
        let twins = [
            try self.list(.keyPackageRelays, ["wss://a.example"], by: keys),
            try self.list(.keyPackageRelays, ["wss://b.example"], by: keys),
        ]
        let lower = twins[0].id < twins[1].id ? twins[0] : twins[1]
        #expect(RelayListEvents.relays(.keyPackageRelays, of: keys.publicKey, in: twins) == lower.relayTags)
    }

    @Test func ignoresInvalidAndRepeatedAddresses() throws {
        let keys = self.keys(1)
        var rng = SplitMix64(seed: 5)
        let event = UnsignedEvent(
            pubkey: keys.publicKey, createdAt: 1, kind: .inboxRelays,
            tags: [
                Tag("relay", "https://one.example"), Tag(values: ["relay"]), Tag("r", "wss://not.example"),
                Tag("relay", "wss://good.example", "extra"), Tag("relay", "WSS://good.example/"),
                Tag("relay", "wss://" + String(repeating: "a", count: 5000)),
            ], content: ""
        ).signed(by: keys, using: &rng)
        #expect(
            RelayListEvents.relays(.inboxRelays, of: keys.publicKey, in: [event])?.map(\.string)
                == ["wss://good.example"])
    }

    @Test func deletionNamesEventsAndKind() throws {
        let keys = self.keys(1)
        var rng = SplitMix64(seed: 5)
        let empty = try self.list(.keyPackage, [], by: keys)
        let event = KeyPackageEvents.deletion(of: [empty.id], by: keys, now: Lab.start, using: &rng)
        try event.verify()
        #expect(event.kind == .deletion && event.content == "")
        #expect(event.tags.map(\.values) == [["e", empty.id.hex], ["k", "443"]])
        #expect(try Deletion(event).covers(empty, author: keys.publicKey, requestedAt: event.createdAt))
    }
}
