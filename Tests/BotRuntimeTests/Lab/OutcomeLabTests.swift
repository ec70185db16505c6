import BotDispatch
import BotKit
import BotTesting
import LiveTesting
import Nostr
import Synchronization
import Testing

/// Performs the action named by a command, and records the outcomes.
private final class ActingBot: Bot {
    static let name = "acting"

    private struct State {
        var outcomes: [OutcomeEvent] = []
        var chats: [ChatID] = []
        var requested: [ActionID] = []
    }

    private let state = Mutex(State())
    /// A peer without any key package.
    let ghost: PublicKey

    init(settings: BotSettings = .null) {
        var random = SplitMix64(seed: 77)
        ghost = KeyPair.generate(using: &random).publicKey
    }

    var outcomes: [OutcomeEvent] { state.withLock(\.outcomes) }
    var results: [String] { outcomes.map { "\($0.kind) \($0.result.name)" } }
    var chats: [ChatID] { state.withLock(\.chats) }
    var requested: [ActionID] { state.withLock(\.requested) }

    private func note(_ id: ActionID) { state.withLock { $0.requested.append(id) } }

    var handlers: [Handler] {
        OnMessage { [self] message, context in
            switch message.content {
            case "say": note(context.reply("said"))
            case "react": note(try context.react("👍"))
            case "found": note(context.createGroup("new", with: [message.sender, ghost], missing: .proceedWithout))
            case "found strictly": note(context.createGroup("new", with: [ghost]))
            case "rename": note(context.rename(to: "renamed"))
            case "two": for text in ["one", "two"] { note(context.send(text)) }
            default: break
            }
        }
        OnOutcome { [self] outcome, context in
            state.withLock { state in
                state.outcomes.append(outcome)
                state.chats.append(context.chatID)
            }
        }
    }
}

private struct Setup {
    let lab: GroupLab
    let alice: LabMember
    let bot = ActingBot()
    let account: LabMember
    let chat: ChatID

    init(relays: Int = 1, groupProtocol: GroupProtocol = .v1) async throws {
        lab = try GroupLab(seed: 31, relays: relays, groupProtocol: groupProtocol)
        alice = try await lab.member("alice")
        account = try await lab.bots("bot", LabBots([LabBots.Entry(bot, label: "acting")]))
        chat = try await alice.create("lab", inviting: [account])
        try await lab.advance(by: .seconds(10))
    }

    func say(_ text: String) async throws {
        try await alice.say(text, in: chat)
        try await lab.advance(by: .seconds(10))
    }
}

@Suite(.bounded)
struct OutcomeLabTests {
    @Test(arguments: [GroupProtocol.v1, .v2])
    func messageOnOneRelayIsDelivered(_ groupProtocol: GroupProtocol) async throws {
        let setup = try await Setup(groupProtocol: groupProtocol)
        try await setup.say("say")
        #expect(setup.bot.results == ["send_message delivered"])
        #expect(setup.bot.outcomes.map(\.action) == setup.bot.requested)
        #expect(setup.bot.chats == [setup.chat])
        guard case .delivered(let id, let relays)? = setup.bot.outcomes.first?.result else {
            Issue.record("expected a delivered message")
            return
        }
        #expect(relays == setup.lab.relays)
        let shown = try await setup.alice.messages(in: setup.chat)
        #expect(shown.contains { $0.id == id })
    }

    @Test func publishedComesBeforeDelivered() async throws {
        let setup = try await Setup(relays: 2)
        try await setup.say("react")
        #expect(setup.bot.results == ["react_to_message published", "react_to_message delivered"])
        #expect(Set(setup.bot.outcomes.map(\.action)) == Set(setup.bot.requested))
        guard case .delivered(_, let relays)? = setup.bot.outcomes.last?.result else {
            Issue.record("expected a delivered message")
            return
        }
        #expect(relays == setup.lab.relays)
    }

    @Test func refusedMessageFails() async throws {
        let setup = try await Setup()
        setup.lab.network.onPublish { publication in
            publication.sender == "bot" && publication.event.kind == .groupEvent ? .refuse("blocked: no") : .deliver
        }
        try await setup.say("say")
        #expect(setup.bot.results == ["send_message failed"])
        let result = setup.bot.outcomes.first?.result
        #expect(result?.error?.code == .notPublished && result?.error?.message == "blocked: no")
        // A later attempt is a new action, and the old one has its outcome already.
        setup.lab.network.deliverEverything()
        guard let id = result?.messageID else { return }
        try await setup.account.perform(.retryMessage(chatID: setup.chat, messageID: id))
        #expect(setup.bot.results.count == 1 && setup.alice.heard(in: setup.chat, from: setup.account) == ["said"])
    }

    @Test(arguments: [GroupProtocol.v1, .v2])
    func foundingReportsChatAndMissingPeers(_ groupProtocol: GroupProtocol) async throws {
        let setup = try await Setup(groupProtocol: groupProtocol)
        try await setup.say("found")
        try await setup.lab.advance(by: .seconds(60))
        #expect(setup.bot.results == ["create_group_chat partly_done"])
        let founded = try await setup.account.state().chatList.first { $0.name == "new" }?.chatID
        #expect(founded != nil && setup.bot.chats == [founded])
        guard case .partlyDone(let left)? = setup.bot.outcomes.first?.result else { return }
        #expect(left == [setup.bot.ghost: .keyPackage(.missing)])
    }

    @Test func failuresNameTheReason() async throws {
        let setup = try await Setup()
        try await setup.say("rename")
        try await setup.say("found strictly")
        try await setup.lab.advance(by: .seconds(60))
        #expect(setup.bot.outcomes.map { $0.result.error?.code } == [.notAllowed, .noKeyPackage])
        #expect(setup.bot.outcomes.last?.result.error?.peers == [setup.bot.ghost: .missing])
        #expect(setup.bot.chats == [setup.chat, ""])
    }

    @Test func whyExplainsFailedActions() async throws {
        let setup = try await Setup()
        let renaming = try await setup.alice.say("rename", in: setup.chat)
        try await setup.lab.advance(by: .seconds(10))
        let founding = try await setup.alice.say("found", in: setup.chat)
        try await setup.lab.advance(by: .seconds(60))
        let saying = try await setup.alice.say("say", in: setup.chat)
        try await setup.lab.advance(by: .seconds(10))
        let journal = EventJournal()
        for notice in setup.account.notices { journal.note(notice) }
        func lines(_ id: EventID) -> [String] { EventExplanation(of: id.hex, from: journal)?.lines ?? [] }
        let renamed = lines(renaming).joined(separator: "\n")
        #expect(renamed.contains("an action failed or was done in part: not_allowed"))
        #expect(renamed.contains("rename_group of acting: "))
        let founded = lines(founding).joined(separator: "\n")
        #expect(founded.contains("partly_done") && founded.contains("create_group_chat of acting: 1 of the peers"))
        // A message that was delivered leaves no such entry.
        #expect(EventExplanation(of: saying.hex, from: journal)?.parts.isEmpty == true)
    }

    /// Crashes the bot before and after each of its commits: every action has its outcome once, under the same id.
    @Test(arguments: [true, false])
    func everyOutcomeArrivesDespiteCrashes(isBefore: Bool) async throws {
        var crashes = 0
        for offset in 1... {
            let setup = try await Setup()
            let commit = setup.account.store.commitCount + offset
            setup.account.crash(isBefore ? .before(commit: commit) : .after(commit: commit))
            for text in ["two", "found"] {
                try await setup.say(text)
                if setup.account.hasCrashed {
                    crashes += 1
                    try await setup.account.restart()
                    try await setup.lab.advance(by: .seconds(60))
                }
            }
            try await setup.lab.advance(by: .seconds(60))
            var results: [ActionID: Set<String>] = [:]
            for outcome in setup.bot.outcomes { results[outcome.action, default: []].insert(outcome.result.name) }
            #expect(Set(results.keys) == Set(setup.bot.requested), "crash \(isBefore) \(offset)")
            #expect(results.values.allSatisfy { $0.count == 1 }, "crash \(isBefore) \(offset): \(results)")
            let isSent = results.filter { $0.value == ["delivered"] }.count
            #expect(isSent == 2, "crash \(isBefore) \(offset): \(results)")
            if offset > crashes { break }
        }
        #expect(crashes >= 8)
    }
}
