import BotKit
import BotTesting
import LiveTesting
import Nostr
import Synchronization
import Testing

/// Answers, and records what became of the answers.
private final class CourierBot: Bot {
    static let name = "courier"

    private struct State {
        var requested: [ActionID] = []
        var deliveries: [MessageDelivery] = []
        var others: [String] = []
    }

    private let state = Mutex(State())

    init(settings: BotSettings = .null) {}

    var requested: [ActionID] { state.withLock(\.requested) }
    var deliveries: [MessageDelivery] { state.withLock(\.deliveries) }
    /// The outcomes that are not deliveries.
    var others: [String] { state.withLock(\.others) }

    private func note(_ id: ActionID) { state.withLock { $0.requested.append(id) } }

    var handlers: [Handler] {
        OnDelivery { [self] delivery, context in
            state.withLock { $0.deliveries.append(delivery) }
            context.send("noted")
        }
        OnOutcome { [self] outcome, _ in state.withLock { $0.others.append("\(outcome.kind) \(outcome.result.name)") } }
        OnMessage { [self] message, context in
            switch message.content {
            case "say": note(context.reply("said"))
            case "rename": note(context.rename(to: "renamed"))
            default: break
            }
        }
    }
}

private struct Setup {
    let lab: GroupLab
    let alice: LabMember
    let bot = CourierBot()
    let account: LabMember
    let chat: ChatID

    init(relays: Int = 1, groupProtocol: GroupProtocol = .v1) async throws {
        lab = try GroupLab(seed: 41, relays: relays, groupProtocol: groupProtocol)
        alice = try await lab.member("alice")
        account = try await lab.bots("bot", LabBots([LabBots.Entry(bot, label: "courier")]))
        chat = try await alice.create("lab", inviting: [account])
        try await lab.advance(by: .seconds(10))
    }

    func say(_ text: String) async throws {
        try await alice.say(text, in: chat)
        try await lab.advance(by: .seconds(60))
    }
}

/// The delivery of a bot's messages.
@Suite(.bounded)
struct DeliveryLabTests {
    @Test(arguments: [GroupProtocol.v1, .v2])
    func deliveredMessageIsReportedOnce(_ groupProtocol: GroupProtocol) async throws {
        let setup = try await Setup(groupProtocol: groupProtocol)
        try await setup.say("say")
        #expect(setup.bot.deliveries.map(\.state) == [.delivered(relays: setup.lab.relays)])
        #expect(setup.bot.deliveries.map(\.action) == setup.bot.requested)
        let shown = try await setup.alice.messages(in: setup.chat)
        let said = shown.first { $0.content == "said" }?.id
        #expect(setup.bot.deliveries.map(\.messageID) == [said])
        // The handler's own message has no delivery in turn.
        #expect(setup.alice.heard(in: setup.chat) == ["said", "noted"])
    }

    @Test func publishedComesBeforeDelivered() async throws {
        let setup = try await Setup(relays: 2)
        try await setup.say("say")
        let states = setup.bot.deliveries.map(\.state)
        guard case .published? = states.first else {
            Issue.record("expected a published message, found \(states)")
            return
        }
        #expect(states.dropFirst() == [.delivered(relays: setup.lab.relays)])
        #expect(Set(setup.bot.deliveries.map(\.messageID)).count == 1)
    }

    @Test func refusedMessageFails() async throws {
        let setup = try await Setup()
        setup.lab.network.onPublish { publication in
            publication.sender == "bot" && publication.event.kind == .groupEvent ? .refuse("blocked: no") : .deliver
        }
        try await setup.say("say")
        guard case .failed(let error)? = setup.bot.deliveries.first?.state else {
            Issue.record("expected a failed message, found \(setup.bot.deliveries)")
            return
        }
        #expect(error.code == .notPublished && error.message == "blocked: no")
        #expect(setup.bot.deliveries.map(\.action) == setup.bot.requested)
    }

    @Test func otherActionsHaveNoDelivery() async throws {
        let setup = try await Setup()
        try await setup.say("rename")
        #expect(setup.bot.deliveries.isEmpty)
        #expect(setup.bot.others == ["rename_group failed"])
    }

    @Test func deliveryArrivesAfterRestart() async throws {
        let setup = try await Setup()
        setup.lab.network.onPublish { publication in
            publication.sender == "bot" && publication.event.kind == .groupEvent ? .hold : .deliver
        }
        try await setup.alice.say("say", in: setup.chat)
        #expect(setup.bot.deliveries.isEmpty && setup.bot.requested.count == 1)
        setup.account.crash()
        setup.lab.network.deliverEverything()
        try await setup.account.restart()
        try await setup.lab.advance(by: .seconds(60))
        #expect(setup.bot.deliveries.map(\.state) == [.delivered(relays: setup.lab.relays)])
        #expect(setup.bot.deliveries.map(\.action) == setup.bot.requested)
    }
}
