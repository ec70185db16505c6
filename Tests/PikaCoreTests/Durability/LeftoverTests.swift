import BotTesting
import Nostr
import Testing

/// Relays that were offline receive missed events from their senders.
@Suite struct LeftoverTests {
    private func ids(_ lab: GroupLab, _ relay: Int, _ kind: Kind = .groupEvent) -> [EventID] {
        lab.network.events(at: lab.relays[relay]).filter { $0.kind == kind }.map(\.id)
    }

    @Test(arguments: [false, true])
    func offlineRelayReceivesEverythingInOrder(_ crashes: Bool) async throws {
        let lab = try GroupLab(seed: 90, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("talk", inviting: [bob])
        lab.network.takeDown(lab.relays[1])
        try await alice.say("one", in: chat)
        try await alice.rename(chat, to: "renamed")
        try await alice.say("two", in: chat)
        #expect(try await alice.state().outbox.pending == 0)
        #expect(alice.store.outbox.count == 3)
        #expect(bob.heard() == ["one", "two"])
        if crashes {
            alice.crash()
            try await alice.restart()
            #expect(try await alice.state().outbox.pending == 0)
        }
        let before = self.ids(lab, 1)
        lab.network.bringUp(lab.relays[1])
        try await lab.settle()
        #expect(alice.store.outbox.isEmpty)
        #expect(Array(self.ids(lab, 1).dropFirst(before.count)) == self.ids(lab, 0).suffix(3))
    }

    @Test func readerOfReturnedRelayCatchesUp() async throws {
        let lab = try GroupLab(seed: 91, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("talk", inviting: [bob])
        bob.crash()
        lab.network.takeDown(lab.relays[1])
        try await alice.rename(chat, to: "while you were away")
        for number in 0..<40 { try await alice.say("\(number)", in: chat) }
        lab.network.takeDown(lab.relays[0])
        lab.network.bringUp(lab.relays[1])
        try await lab.settle()
        try await bob.restart()
        try await lab.advance(by: .seconds(60))
        #expect(Set(bob.heard()) == Set((0..<40).map(String.init)) && bob.heard().count == 40)
        try await lab.expectAgreement([alice, bob], in: chat)
    }

    @Test func dropsBacklogOfAbsentRelayAfterDay() async throws {
        let lab = try GroupLab(seed: 92, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("talk", inviting: [bob])
        lab.network.takeDown(lab.relays[1])
        try await alice.say("one", in: chat)
        #expect(alice.store.outbox.count == 1)
        let sent = lab.network.publications.count
        try await lab.advance(by: .seconds(26 * 3600))
        #expect(alice.store.outbox.isEmpty)
        #expect(lab.network.publications.count == sent, "nothing may be sent to an offline relay")
        #expect(!lab.logLines.contains { $0.contains("could not be sent") })
    }

    @Test func retriesBusyRelayWithoutBlockingOthers() async throws {
        let lab = try GroupLab(seed: 93, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("talk", inviting: [bob])
        let slow = lab.relays[1]
        lab.network.onPublish { $0.relay == slow ? .refuse("rate-limited: later") : .deliver }
        for number in 0..<50 { try await alice.say("\(number)", in: chat) }
        #expect(bob.heard() == (0..<50).map(String.init))
        lab.network.deliverEverything()
        try await lab.advance(by: .seconds(120))
        #expect(alice.store.outbox.isEmpty)
        #expect(Set(self.ids(lab, 1)) == Set(self.ids(lab, 0)))
    }
}
