import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct RelayListsTests {
    @Test func publishesUnconfirmedAndChangedLists() throws {
        let (relay, other) = (try RelayURL("wss://a.example"), try RelayURL("wss://b.example"))
        var random = SplitMix64(seed: 3)
        let keys = KeyPair.generate(using: &random)
        var (lists, step) = (RelayLists(), CoreStep.at(0))
        lists.endReading()
        let (old, new) = (CoreConfiguration(relays: [relay]), CoreConfiguration(relays: [other]))
        for kind in RelayLists.kinds {
            #expect(lists.publication(of: kind, old) == .sign)
            let event = lists.draft(kind, old, by: keys.publicKey, now: 1).signed(by: keys, using: &random)
            _ = lists.replace(by: event, &step)
            #expect(lists.publication(of: kind, old) == .send(event))
            #expect(lists.publication(of: kind, new) == .sign)
            lists.confirm(event, &step)
            #expect(lists.publication(of: kind, old) == RelayLists.Publication.none)
        }
    }

    @Test func readsListOfOthersBeforeWriting() throws {
        var random = SplitMix64(seed: 6)
        let keys = KeyPair.generate(using: &random)
        func list(_ relays: [String], at time: UnixTime) -> Event {
            UnsignedEvent(
                pubkey: keys.publicKey, createdAt: time, kind: .relayList, tags: relays.map { Nostr.Tag("r", $0) },
                content: ""
            ).signed(by: keys, using: &random)
        }
        let configuration = CoreConfiguration(relays: [try RelayURL("wss://own.example")])
        var (lists, step) = (RelayLists(), CoreStep.at(0))
        #expect(lists.publication(of: .relayList, configuration) == RelayLists.Publication.none)
        #expect(lists.publication(of: .inboxRelays, configuration) == .sign)
        lists.note(list(["wss://old.example"], at: 5))
        lists.note(list(["wss://new.example", "wss://own.example"], at: 7))
        lists.note(list(["wss://older.example"], at: 6))
        lists.endReading()
        #expect(lists.publication(of: .relayList, configuration) == .sign)
        let draft = lists.draft(.relayList, configuration, by: keys.publicKey, now: 1)
        #expect(draft.tags.map(\.value) == ["wss://own.example", "wss://new.example"] && draft.createdAt == 8)
        let event = draft.signed(by: keys, using: &random)
        _ = lists.replace(by: event, &step)
        // The account's own list and older lists have no effect; a restart keeps the relays of others.
        for known in [event, list(["wss://older.example"], at: 6)] { lists.note(known) }
        #expect(lists.publication(of: .relayList, configuration) == .send(event))
        var restored = RelayLists()
        let record = try #require(lists[.relayList])
        let isRestored = restored.restore(record.memo)
        #expect(isRestored && restored[.relayList] == record)
        #expect(restored.publication(of: .relayList, configuration) == .send(event))
    }

    @Test func returnsToListReplacedByOthers() throws {
        var random = SplitMix64(seed: 8)
        let keys = KeyPair.generate(using: &random)
        func list(_ relays: [String], at time: UnixTime) -> Event {
            UnsignedEvent(
                pubkey: keys.publicKey, createdAt: time, kind: .relayList, tags: relays.map { Nostr.Tag("r", $0) },
                content: ""
            ).signed(by: keys, using: &random)
        }
        let configuration = CoreConfiguration(relays: [try RelayURL("wss://own.example")])
        var (lists, step) = (RelayLists(), CoreStep.at(0))
        lists.note(list(["wss://other.example"], at: 5))
        lists.endReading()
        let event = lists.draft(.relayList, configuration, by: keys.publicKey, now: 1)
            .signed(by: keys, using: &random)
        _ = lists.replace(by: event, &step)
        lists.confirm(event, &step)
        #expect(lists.publication(of: .relayList, configuration) == RelayLists.Publication.none)
        // The other program writes its own list again, without this account's relays.
        let record = try #require(lists[.relayList])
        var restarted = RelayLists()
        restarted.restore(record)
        restarted.note(list(["wss://other.example"], at: 20))
        #expect(restarted.publication(of: .relayList, configuration) == RelayLists.Publication.none)
        restarted.endReading()
        #expect(restarted.publication(of: .relayList, configuration) == .sign)
        let again = restarted.draft(.relayList, configuration, by: keys.publicKey, now: 1)
        #expect(again.tags == event.tags && again.createdAt == 21)
        _ = restarted.replace(by: again.signed(by: keys, using: &random), &step)
        // A list that names these relays too is left alone.
        restarted.note(list(["wss://new.example", "wss://own.example"], at: 30))
        #expect(restarted.publication(of: .relayList, configuration) == RelayLists.Publication.none)
    }

    @Test func statesWhereThisAccountWrites() throws {
        let (home, packages) = (try RelayURL("wss://a.example"), try RelayURL("wss://b.example"))
        var random = SplitMix64(seed: 4)
        let keys = KeyPair.generate(using: &random)
        let configuration = CoreConfiguration(relays: [home], keyPackageRelays: [packages])
        let list = RelayLists().draft(.relayList, configuration, by: keys.publicKey, now: 1)
            .signed(by: keys, using: &random)
        #expect(try RelayList(list) == RelayList(read: [home], write: [packages]))
        #expect(RelayLists.writeRelays(of: keys.publicKey, in: [list]) == [packages])
    }

    @Test func boundsRelaysOfOtherPrograms() throws {
        var random = SplitMix64(seed: 9)
        let keys = KeyPair.generate(using: &random)
        let tags = (0..<30).map { Nostr.Tag("r", "wss://r\($0).example") }
        let list = UnsignedEvent(
            pubkey: keys.publicKey, createdAt: 5, kind: .relayList,
            tags: [Nostr.Tag("r", "wss://own.example"), Nostr.Tag("r", "wss://read.example", "read")] + tags,
            content: ""
        ).signed(by: keys, using: &random)
        let configuration = CoreConfiguration(relays: [try RelayURL("wss://own.example")])
        var lists = RelayLists()
        #expect(lists.otherWriteRelays(configuration).isEmpty)
        lists.note(list)
        let relays = lists.otherWriteRelays(configuration)
        #expect(relays.map(\.string) == (0..<10).map { "wss://r\($0).example" })
        let isFirst = lists.noteOffer(to: relays)
        let isSecond = lists.noteOffer(to: relays)
        #expect(isFirst && !isSecond)
    }

    @Test func readsWriteRelaysOfNewestList() throws {
        var random = SplitMix64(seed: 5)
        let keys = KeyPair.generate(using: &random)
        func list(_ tags: [Nostr.Tag], at time: UnixTime) -> Event {
            UnsignedEvent(pubkey: keys.publicKey, createdAt: time, kind: .relayList, tags: tags, content: "")
                .signed(by: keys, using: &random)
        }
        let old = list([Nostr.Tag("r", "wss://old.example")], at: 1)
        let new = list(
            [
                Nostr.Tag("r", "wss://both.example"), Nostr.Tag("r", "wss://write.example", "write"),
                Nostr.Tag("r", "wss://read.example", "read"), Nostr.Tag("r", "wss://odd.example", "odd"),
                Nostr.Tag("r", "no relay"), Nostr.Tag("r", "wss://both.example", ""), Nostr.Tag("r"),
            ], at: 2)
        let relays = RelayLists.writeRelays(of: keys.publicKey, in: [new, old])
        #expect(relays.map(\.string) == ["wss://both.example", "wss://write.example"])
        #expect(RelayLists.writeRelays(of: KeyPair.generate(using: &random).publicKey, in: [new]) == [])
    }
}
