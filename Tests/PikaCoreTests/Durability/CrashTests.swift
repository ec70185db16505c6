import BotTesting
import Testing

/// A crash at every point of the store's work, unnoticed by the other members.
@Suite struct CrashTests {
    private static let messageCount = 20

    /// Before or after a commit, counted from the start of the scenario.
    private struct Crash {
        let commit: Int
        let isAfter: Bool

        func stopPoint(after start: Int) -> MemoryCoreStore.StopPoint {
            isAfter ? .after(commit: start + commit) : .before(commit: start + commit)
        }
    }

    private static func revive(_ member: LabMember) async throws {
        if member.hasCrashed { try await member.restart() }
    }

    /// Alice sends twenty messages, singly and in a burst, and renames the group in between; a bot answers each.
    /// Returns the number of commits of the bot's store from its invitation on.
    private static func conversation(seed: UInt64, _ point: Crash?) async throws -> Int {
        let lab = try GroupLab(seed: seed, schedule: .shuffled)
        let alice = try await lab.member("alice")
        let bot = try await lab.member("bot", handler: LabMember.answering)
        let store = bot.store
        let before = store.commitCount
        if let point { bot.crash(point.stopPoint(after: before)) }
        let chat = try await alice.create("talk", inviting: [bot])
        try await Self.revive(bot)
        for number in 0..<Self.messageCount / 2 {
            try await alice.say("\(number)", in: chat)
            try await Self.revive(bot)
        }
        try await alice.rename(chat, to: "more talk")
        for number in Self.messageCount / 2..<Self.messageCount {
            alice.begin(.sendMessage(chatID: chat, .text("\(number)")))
        }
        try await lab.settle()
        try await Self.revive(bot)
        try await lab.advance(by: .seconds(120))
        try await Self.revive(bot)

        if point != nil { #expect(bot.store !== store, "the bot must have crashed") }
        let answers = alice.heard(in: chat, from: bot).sorted()
        let expected = (0..<Self.messageCount).map { "re: \($0)" }.sorted()
        guard answers == expected else {
            throw LabError(.unmet, "crash \(String(describing: point)), seed \(seed): heard \(answers)")
        }
        try await lab.expectAgreement([alice, bot], in: chat)
        #expect(bot.store.inbox.isEmpty && bot.store.outbox.isEmpty)
        AppStateTests.checkSnapshots(bot)
        return store.commitCount - before
    }

    @Test func answersEveryMessageOnceDespiteCrashes() async throws {
        let commits = try await Self.conversation(seed: 100, nil)
        #expect(commits > Self.messageCount)
        for commit in 1...commits {
            _ = try await Self.conversation(seed: 100, Crash(commit: commit, isAfter: false))
            _ = try await Self.conversation(seed: 100, Crash(commit: commit, isAfter: true))
        }
    }

    /// Alice founds a group, adds Carol and sends a message, and crashes on the way; she repeats every action whose
    /// outcome was not reported.
    private static func founding(_ point: Crash?) async throws -> Int {
        let lab = try GroupLab(seed: 101, relays: 2)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        let store = alice.store
        let before = store.commitCount
        if let point { alice.crash(point.stopPoint(after: before)) }
        var chats: [ChatID] = []
        for _ in 0..<2 where chats.isEmpty {
            alice.begin(.createGroupChat(name: "friends", peers: [bob.publicKey]))
            try await lab.settle()
            try await Self.revive(alice)
            chats = try await alice.state().chatList.map(\.chatID)
        }
        let chat = try #require(chats.first)
        for _ in 0..<2 {
            if try await alice.summary(of: chat)?.members.count == 3 { break }
            alice.begin(.addGroupMembers(chatID: chat, peers: [carol.publicKey]))
            try await lab.settle()
            try await Self.revive(alice)
            try await lab.advance(by: .seconds(60))
        }
        alice.begin(.sendMessage(chatID: chat, .text("welcome")))
        try await lab.settle()
        try await Self.revive(alice)
        try await bob.say("hi", in: chat)
        try await Self.revive(alice)
        try await lab.advance(by: .seconds(120))
        #expect(try await lab.expectAgreement([alice, bob, carol], in: chat) == 2, "\(String(describing: point))")
        #expect(alice.heard(in: chat) == ["hi"], "\(String(describing: point))")
        #expect(carol.heard(in: chat, from: bob) == ["hi"], "\(String(describing: point))")
        #expect(["", "welcome"].contains(bob.heard(in: chat).joined(separator: " ")))
        #expect(bob.heard(in: chat) == carol.heard(in: chat, from: alice))
        #expect(bob.commits.map(\.added) == [[carol.publicKey]], "\(String(describing: point))")
        #expect(alice.store.outbox.isEmpty)
        if point != nil { #expect(alice.store !== store, "Alice must have crashed") }
        return store.commitCount - before
    }

    @Test func createsAndExtendsGroupDespiteCrashes() async throws {
        let commits = try await Self.founding(nil)
        for commit in 1...commits {
            _ = try await Self.founding(Crash(commit: commit, isAfter: false))
            _ = try await Self.founding(Crash(commit: commit, isAfter: true))
        }
    }

    @Test func handlerValuesCommitWithTheirEvent() async throws {
        let lab = try GroupLab(seed: 102)
        let alice = try await lab.member("alice")
        let bot = try await lab.member("bot") { event in
            guard case .message(let message) = event.content else { return [] }
            let value = message.content == "forget" ? nil : Array(message.content.utf8)
            return [HandlerEffect(id: "v/\(message.id)", operation: .putValue(scope: "s", key: "last", value: value))]
        }
        try await alice.create("talk", inviting: [bot])
        try await alice.say("remember")
        bot.crash()
        try await bot.restart()
        #expect(try await bot.core.value(scope: "s", key: "last") == Array("remember".utf8))
        #expect(try await bot.core.value(scope: "other", key: "last") == nil)
        try await alice.say("forget")
        #expect(try await bot.core.value(scope: "s", key: "last") == nil)
    }
}
