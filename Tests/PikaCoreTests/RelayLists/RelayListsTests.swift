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
        #expect(lists.publication(of: .inboxRelays, naming: [relay]) == .sign)
        let event = lists.draft(.inboxRelays, of: [relay], by: keys.publicKey, now: 1)
            .signed(by: keys, using: &random)
        _ = lists.replace(by: event, &step)
        #expect(lists.publication(of: .inboxRelays, naming: [relay]) == .send(event))
        #expect(lists.publication(of: .inboxRelays, naming: [other]) == .sign)
        lists.confirm(event, &step)
        #expect(lists.publication(of: .inboxRelays, naming: [relay]) == RelayLists.Publication.none)
    }
}
