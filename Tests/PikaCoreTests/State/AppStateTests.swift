import BotTesting
import Testing

@Suite struct AppStateTests {
    /// Invariants of every snapshot.
    static func checkSnapshots(_ member: LabMember) {
        for run in member.snapshots {
            #expect(zip(run, run.dropFirst()).allSatisfy { $0.rev < $1.rev }, "revs must increase")
            for state in run {
                let open: ChatID? = if case .chat(let chatID) = state.router.top { chatID } else { nil }
                #expect(state.currentChat?.chatID == open, "the open chat must be filled, and no other")
            }
        }
    }

    @Test func fillsOnlyOpenChat() async throws {
        let lab = try GroupLab(seed: 60)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let one = try await alice.create("one", inviting: [bob])
        let two = try await alice.create("two", inviting: [bob])
        try await alice.perform(.setScreens([]))
        try await bob.say("in one", in: one)
        try await bob.say("in two", in: two)
        #expect(try await alice.state().chatList.map(\.unreadCount) == [1, 1])
        #expect(try await alice.messages(in: one).map(\.content) == ["in one"])
        #expect(try await alice.messages(in: two).map(\.content) == ["in two"])
        try await bob.say("more", in: two)
        #expect(try await alice.messages(in: two).map(\.content) == ["in two", "more"])
        #expect(try await alice.state().chatList.map(\.unreadCount) == [0, 0])
        // After the pop, the chat below is filled again.
        try await alice.perform(.popScreen)
        #expect(try await alice.state().currentChat?.messages.map(\.content) == ["in one"])
        try await alice.perform(.pushScreen(.groupInfo(chatID: one)))
        #expect(try await alice.state().currentChat == nil)
        try await alice.perform(.popScreen)
        #expect(try await alice.state().currentChat?.messages.map(\.content) == ["in one"])
        try await alice.perform(.popScreen)
        #expect(try await alice.state().currentChat == nil)
        Self.checkSnapshots(alice)
        Self.checkSnapshots(bob)
    }

    @Test func reportsUnknownChat() async throws {
        let lab = try GroupLab(seed: 61)
        let alice = try await lab.member("alice")
        let unknown = ChatID(rawValue: String(repeating: "0", count: 64))
        for action in [
            AppAction.openChat(chatID: "nowhere"), .sendMessage(chatID: unknown, .text("x")),
            .renameGroup(chatID: "", name: "x"), .endCall(chatID: "x", callID: "y", reason: "z"),
        ] {
            guard case .failed(let error) = try await alice.attempt(action) else {
                Issue.record("\(action) did not fail")
                continue
            }
            #expect(error.code == .unknownChat)
        }
        #expect(try await alice.state().toast != nil)
        try await alice.perform(.clearToast)
        #expect(try await alice.state().toast == nil)
        Self.checkSnapshots(alice)
    }

    @Test func reactionsBelongToTheirMessage() async throws {
        let lab = try GroupLab(seed: 62)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        let id = try await alice.say("look")
        try await bob.perform(.reactToMessage(chatID: chat, messageID: id, emoji: "+"))
        let messages = try await alice.messages(in: chat)
        #expect(messages.map(\.content) == ["look"])
        #expect(messages.first?.reactions.map(\.senders) == [[bob.publicKey]])
        #expect(messages.first?.reactions.map(\.emoji) == ["+"])
        #expect(try await bob.messages(in: chat).first?.reactions.map(\.emoji) == ["+"])
    }

    @Test func relaysAndOutboxAreShown() async throws {
        let lab = try GroupLab(seed: 63, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        var state = try await alice.state()
        #expect(state.auth == .loggedIn(alice.publicKey))
        #expect(state.relays.map(\.url) == lab.relays)
        #expect(state.relays.allSatisfy { $0.connection == .connected && $0.isCaughtUp })
        #expect(state.outbox.pending == 0)
        for relay in lab.relays { lab.network.takeDown(relay, reason: "gone") }
        try await alice.say("later", in: chat)
        state = try await alice.state()
        #expect(state.relays.allSatisfy { $0.connection == .retrying(attempt: 1, reason: "gone") && !$0.isCaughtUp })
        #expect(state.outbox.pending == 1)
        #expect(try await alice.messages(in: chat).map(\.delivery) == [.pending])
        for relay in lab.relays { lab.network.bringUp(relay) }
        try await lab.settle()
        #expect(try await alice.messages(in: chat).map(\.delivery) == [.sent])
        #expect(try await alice.state().outbox.pending == 0)
        #expect(bob.heard() == ["later"])
    }

    @Test func showsRefusedMessageAsFailed() async throws {
        let lab = try GroupLab(seed: 64)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        _ = try await alice.messages(in: chat)
        lab.network.onPublish { _ in .refuse("blocked: no") }
        try await alice.say("never")
        #expect(try await alice.messages(in: chat).map(\.delivery) == [.failed("blocked: no")])
        #expect(try await alice.state().outbox.pending == 0)
    }

    @Test func noSecretIsShownOrLogged() async throws {
        let lab = try GroupLab(seed: 65)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.say("private words", in: chat)
        _ = try await bob.messages(in: chat)
        for member in [alice, bob] {
            var text = ""
            for state in member.snapshots.joined() { dump(state, to: &text) }
            #expect(!text.isEmpty)
            #expect(!text.contains(member.secretKeyHex))
            #expect(!text.contains("nsec1"))
            #expect(!text.contains("Secret"))
        }
        for line in lab.logLines {
            #expect(!line.contains(alice.secretKeyHex) && !line.contains(bob.secretKeyHex))
            #expect(!line.contains("private words") && !line.contains("nsec1"))
        }
    }
}
