import BotKit
import LiveTesting
import Logging
import Nostr
import Testing

@testable import BotDispatch
@testable import PikaCore

@Suite(.bounded)
struct OperatorTests {
    private static let commands: [(String, OperatorCommand?)] = [
        ("@greeter !!status", .status), ("greeter, !!HELP", .help), ("@greeter !!pause echo", .pause(bot: "echo")),
        ("@greeter  !!pause", .pause(bot: nil)), ("!!resume echo @greeter", .resume(bot: "echo")),
        ("@greeter !!leave now", .leave), ("@greeter !!dance", .unknown("dance")), ("@greeter !!", .unknown("")),
        // In a group with other bots, the command may be meant for them.
        ("!!status", nil), ("@other !!status", nil), ("@greeter please !!status", nil), ("@greeter !status", nil),
        ("@greeter /status", nil), ("@greeter", nil), ("", nil),
    ]

    @Test func parsesCommands() {
        let scope = scope(chats: [chatSummary("c1", isGroup: true)])
        for (text, expected) in Self.commands {
            #expect(OperatorCommand(messageEvent(text), in: scope) == expected, "\(text)")
        }
        #expect(OperatorCommand(messageEvent("@greeter !!status", kind: .reaction), in: scope) == nil)
        let pair = self.pair
        #expect(OperatorCommand(messageEvent("!!status"), in: pair) == .status)
        #expect(OperatorCommand(messageEvent("@other !!status"), in: pair) == nil)
    }

    private var pair: EventScope { scope(chats: [chatSummary("c1", isGroup: false)]) }

    private func texts(_ completion: Completion) -> [String] {
        completion.effects.compactMap { if case .send(_, let message) = $0.operation { message.content } else { nil } }
    }

    /// Returns the completions of a dispatcher with one bot for these messages; `c` is an operator.
    private func run(
        _ events: CoreEvent..., stored: [String: [UInt8]] = [:], admission: Admission = Admission(operators: [key("c")])
    ) async -> [Completion] {
        let core = ScriptedCore(chats: [chatSummary("c1", isGroup: true)], stored: stored)
        let bot = ListedBot { OnMessage { message, context in context.send("bot: \(message.content)") } }
        var configuration = BotDispatcher.Configuration(accountName: "greeter")
        configuration.admission = admission
        let dispatcher = BotDispatcher(
            bots: [InstalledBot(bot, label: "echo")], core: core, clock: StandingClock(), configuration: configuration,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await dispatcher.run() }
            for event in events { core.deliver(event) }
            let completions = await core.completed(events.count)
            group.cancelAll()
            return completions
        }
    }

    @Test func operatorPausesAndResumes() async throws {
        let admission = Admission(operators: [key("c")])
        let completions = await run(
            arrived("one", 1), arrived("@greeter !!pause echo", 2, from: key("c")), arrived("two", 3),
            arrived("@greeter !!status", 4, from: key("c")), arrived("@greeter !!resume", 5, from: key("c")),
            arrived("three", 6), admission: admission)
        #expect(
            completions.map(texts) == [
                ["bot: one"], ["paused: echo"], [],
                ["echo: paused; since the start 1 handled, 1 ignored, 0 failed"], ["resumed: echo"], ["bot: three"],
            ])
        // The pause is durable: its values are committed with the events.
        let pause = completions[1].effects.last?.operation
        #expect(pause == .putValue(scope: "pikabot/bots", key: "paused/echo", value: [1]))
        let resume = completions[4].effects.last?.operation
        #expect(resume == .putValue(scope: "pikabot/bots", key: "paused/echo", value: nil))
        #expect(completions[1].effects.map(\.id) == (0...1).map { "pikabot/bots/\(eventID(2).hex)/\($0)" })
        #expect(admission.journal.ignored.map(\.reason) == ["paused"])
    }

    @Test func pauseSurvivesRestart() async {
        let stored: [String: [UInt8]] = ["pikabot/bots.paused/echo": [1]]
        let completions = await run(
            arrived("one", 1), arrived("@greeter !!resume", 2, from: key("c")), arrived("two", 3), stored: stored)
        #expect(completions.map(texts) == [[], ["resumed: echo"], ["bot: two"]])
    }

    @Test func ignoresNonOperatorsAndBots() async {
        let admission = Admission(operators: [key("c")])
        let completions = await run(arrived("@greeter !!leave", 1), arrived("!!leave", 2), admission: admission)
        // The second one addresses no bot, so it is an ordinary message.
        #expect(completions.map(texts) == [[], ["bot: !!leave"]])
        #expect(admission.journal.ignored.map(\.reason) == ["not_operator"])
        #expect(admission.journal.ignored.map(\.bot) == [nil])
    }

    @Test func answersHelpUnknownAndLeave() async throws {
        let completions = await run(
            arrived("@greeter !!help", 1, from: key("c")), arrived("@greeter !!x", 2, from: key("c")),
            arrived("@greeter !!pause nobody", 3, from: key("c")), arrived("@greeter !!leave", 4, from: key("c")))
        for word in ["!!status", "!!pause", "!!resume", "!!leave"] {
            #expect(completions.prefix(2).allSatisfy { texts($0).first?.contains(word) == true })
        }
        #expect(texts(completions[1]).first?.hasPrefix("unknown command !!x") == true)
        #expect(texts(completions[2]) == ["no such bot; available: echo"])
        #expect(completions[3].effects.map(\.operation).last == .dispatch(.leaveGroup(chatID: "c1")))
    }
}
