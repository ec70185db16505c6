import BotTesting
import LiveTesting
import Nostr
import PikaCore
import Testing

@Suite(.bounded) struct LabHandsTests {
    private let url: RelayURL
    private let event: Event

    init() throws {
        var generator = SeededGenerator(seed: 6)
        let keys = KeyPair.generate(using: &generator)
        self.url = try RelayURL("wss://one.example")
        self.event = UnsignedEvent(pubkey: keys.publicKey, createdAt: 100, kind: .textNote, content: "by hand")
            .signed(by: keys, using: &generator)
    }

    @Test func answersHeldEventWithoutRelay() async {
        let network = LabNetwork(relays: [url])
        let transport = network.transport(name: "sender")
        network.onPublish { _ in .hold }
        let stream = await transport.publish(event, to: [url])
        #expect(network.heldPublications.map(\.event) == [event])
        network.answerHeld(event.id, .accepted)
        var outcomes: [PublishReport.Outcome] = []
        for await report in stream { outcomes.append(report.outcome) }
        #expect(outcomes == [.accepted] && network.heldPublications.isEmpty && network.events(at: url).isEmpty)
    }

    @Test func handsEventToSubscriberOnce() async {
        let network = LabNetwork(relays: [url])
        let clock = ManualClock(milliseconds: 5000)
        network.recordArrivals(of: .textNote, clock: clock)
        let reader = network.transport(name: "reader")
        await reader.setRelays([url])
        network.hand(event, to: "reader", at: url)
        #expect(network.arrivals?.at("reader").isEmpty == true)
        await reader.subscribe(RelaySubscription(id: "all", filters: [Filter(kinds: [.textNote])], overlap: 0))
        network.hand(event, to: "reader", at: url)
        network.hand(event, to: "another", at: url)
        #expect(network.arrivals?.at("reader").map(\.event) == [event])
        #expect(network.arrivals?.at("reader").map(\.milliseconds) == [5000])
        #expect(network.arrivals?.at("another").isEmpty == true && network.events(at: url).isEmpty)
    }

    @Test func secondGenerationAppliesCommitsAfterQuiet() async throws {
        let lab = try GroupLab(seed: 95, groupProtocol: .v2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("before", inviting: [bob])
        #expect(try await bob.summary(of: chat)?.generation == .v2)
        try await alice.rename(chat, to: "after")
        try await lab.advance(by: .milliseconds(900))
        #expect(try await bob.summary(of: chat)?.name == "before")
        try await lab.advance(by: .milliseconds(200))
        #expect(try await bob.summary(of: chat)?.name == "after")
        #expect(try await lab.expectAgreement([alice, bob], in: chat) == 2)
    }
}
