import BotTesting
import Nostr
import PikaCore
import Testing

@Suite struct OutageTests {
    @Test(arguments: [1, 2], [GroupLab.Schedule.inOrder, .shuffled])
    func losesNothingDuringRelayOutage(_ relays: Int, _ schedule: GroupLab.Schedule) async throws {
        let lab = try GroupLab(seed: 80, relays: relays, schedule: schedule)
        let alice = try await lab.member("alice")
        let bot = try await lab.member("bot", handler: LabMember.answering)
        let chat = try await alice.create("talk", inviting: [bot])
        for number in 0..<12 {
            if number == 3 { for relay in lab.relays { lab.network.takeDown(relay) } }
            if number == 6 { bot.crash() }
            if number == 7 { try await bot.restart() }
            if number == 9 { for relay in lab.relays { lab.network.bringUp(relay) } }
            try await alice.say("\(number)", in: chat)
            try await lab.advance(by: .seconds(30))
        }
        try await lab.advance(by: .seconds(300))
        #expect(alice.heard(in: chat).sorted() == (0..<12).map { "re: \($0)" }.sorted())
        #expect(bot.heard(in: chat).sorted() == (0..<12).map(String.init).sorted())
        #expect(alice.store.outbox.isEmpty && bot.store.outbox.isEmpty)
    }

    @Test func republishesAfterLostAnswer() async throws {
        let lab = try GroupLab(seed: 81)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        try await alice.create("talk", inviting: [bob])
        lab.network.onPublish { _ in .lose }
        try await alice.say("once")
        #expect(bob.heard().isEmpty)
        #expect(try await alice.state().outbox.pending == 1)
        lab.network.deliverEverything()
        try await lab.advance(by: .seconds(60))
        #expect(bob.heard() == ["once"])
        let published = lab.network.publications.filter { $0.publication.event.kind == .groupEvent }
        #expect(published.count >= 2)
        #expect(Set(published.map(\.publication.event.id)).count == 1, "each attempt must publish the same event")
    }

    @Test func commitsOnceRelayReturns() async throws {
        let lab = try GroupLab(seed: 82)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("talk", inviting: [bob])
        lab.network.takeDown(lab.relay)
        let request = alice.begin(.renameGroup(chatID: chat, name: "after the storm"))
        try await lab.advance(by: .seconds(600))
        #expect(alice.outcome(of: request) == nil)
        lab.network.bringUp(lab.relay)
        try await lab.advance(by: .seconds(60))
        #expect(alice.outcome(of: request) == .done(chatID: chat))
        #expect(try await bob.summary(of: chat)?.name == "after the storm")
    }

    @Test func deliversMessagesSentDuringPendingCommit() async throws {
        let lab = try GroupLab(seed: 83)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("talk", inviting: [bob])
        lab.network.onPublish { $0.event.kind == .groupEvent && $0.sender == "alice" ? .hold : .deliver }
        alice.begin(.renameGroup(chatID: chat, name: "new"))
        try await lab.settle()
        alice.begin(.sendMessage(chatID: chat, .text("meanwhile")))
        try await lab.settle()
        try await bob.say("I too", in: chat)
        #expect(alice.heard() == ["I too"])
        lab.network.deliverEverything()
        lab.network.release()
        try await lab.advance(by: .seconds(60))
        #expect(bob.heard() == ["meanwhile"])
        try await alice.say("on", in: chat)
        #expect(bob.heard() == ["meanwhile", "on"])
        try await lab.expectAgreement([alice, bob], in: chat)
    }

    @Test func readsAndQueuesWithoutRelay() async throws {
        let lab = try GroupLab(seed: 84)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chats = [
            try await alice.create("one", inviting: [bob]), try await alice.create("two", inviting: [bob]),
        ]
        for number in 0..<60 {
            try await alice.say("before \(number)", in: chats[0])
            try await lab.advance(by: .seconds(1))
        }
        lab.network.takeDown(lab.relay)
        alice.crash()
        try await alice.restart()
        let before = (0..<60).map { "before \($0)" }
        #expect(try await alice.messages(in: chats[0]).map(\.content) == Array(before.suffix(50)))
        try await alice.perform(.loadOlderMessages(chatID: chats[0]))
        #expect(try await alice.messages(in: chats[0]).map(\.content) == before)
        var queued: [ChatID: [EventID]] = [:]
        for number in 0..<40 {
            for chat in chats {
                let action = AppAction.sendMessage(chatID: chat, .text("\(number)"))
                guard case .queued(_, let wrapper) = try await alice.perform(action) else {
                    return #expect(Bool(false), "expected the message to be queued")
                }
                queued[chat, default: []].append(wrapper)
            }
            try await lab.advance(by: .seconds(1))
        }
        #expect(try await alice.messages(in: chats[0]).suffix(40).allSatisfy { $0.delivery == .pending })
        #expect(bob.heard(in: chats[1]).isEmpty)
        let known = lab.network.publications.count
        lab.network.bringUp(lab.relay)
        try await lab.advance(by: .seconds(120))
        let published = lab.network.publications.dropFirst(known).map(\.publication.event.id)
        for chat in chats {
            let order = try #require(queued[chat])
            #expect(published.filter(order.contains) == order, "events must be published once each, in queue order")
            #expect(bob.heard(in: chat).suffix(40) == (0..<40).map(String.init)[...])
        }
        #expect(try await alice.messages(in: chats[0]).allSatisfy { $0.delivery == .sent })
    }
}
