import Logging
import Testing

@testable import BotDispatch
@testable import BotKit
@testable import PikaCore

/// Returns the messages that a bot sends for a message.
func answers(of bot: any Bot, to content: String) async throws -> [String] {
    let event = arrived(content)
    let scope = scope(chats: [chatSummary("c1", isGroup: true)])
    guard let (_, work) = InstalledBot(bot, label: "bot").work(for: .event(event), in: scope) else { return [] }
    let context = BotContext(
        bot: "bot", trigger: .event(event), scope: scope, nowMilliseconds: 1_700_000_000_000,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, readValue: { _ in nil },
        readMedia: { _, _ in [] })
    try await work(context)
    return try context.finish().compactMap {
        if case .send(_, let message) = $0.operation { message.content } else { nil }
    }
}

struct CommandArgumentTests {
    private let bot = ListedBot {
        OnCommand(
            "roll", help: "Rolls dice.",
            arguments: [.integer("count", in: 1...20), .choice("die", ["d6", "d20"]).optional, .rest("why").optional]
        ) { command, context in
            context.send(
                "\(command.integer("count") ?? 0) \(command.string("die") ?? "-") \(command.string("why") ?? "-")")
        }
        OnCommand("pay", help: "Pays.", arguments: [.user("whom"), .number("amount"), .duration("every").optional]) {
            command, context in
            context.send("\(command.user("whom")?.hex.prefix(4) ?? "") \(command.number("amount") ?? 0)")
            if let every = command.duration("every") { context.send("\(every)") }
        }
        OnCommand("now", help: "The time.", arguments: []) { _, context in context.send("now") }
        OnCommand("any") { command, context in context.send(command.arguments.joined(separator: "+")) }
    }

    @Test(arguments: [
        ("/roll 2", "2 - -"), ("/roll 2 D20", "2 d20 -"), ("/ROLL 2 d6 for  the \"win\"", "2 d6 for  the \"win\""),
        ("/roll \"3\" d6", "3 d6 -"), ("/now", "now"), ("/any a \"b c\"", "a+b c"), ("/any", ""),
        ("@greeter /roll 1", "1 - -"),
    ])
    func parsesValidUses(content: String, answer: String) async throws {
        #expect(try await answers(of: bot, to: content) == [answer])
    }

    @Test(arguments: [
        ("/roll", "count is missing\nUsage: /roll <count> [d6|d20] [why…]"),
        ("/roll two", "count must be a whole number from 1 to 20\nUsage: /roll <count> [d6|d20] [why…]"),
        ("/roll 21", "count must be a whole number from 1 to 20\nUsage: /roll <count> [d6|d20] [why…]"),
        (
            "/roll 99999999999999999999",
            "count must be a whole number from 1 to 20\nUsage: /roll <count> [d6|d20] [why…]"
        ),
        ("/roll 2 d7", "die must be one of d6, d20\nUsage: /roll <count> [d6|d20] [why…]"),
        ("/now then", "too many arguments\nUsage: /now"),
        ("/pay npub1xyz 3", "whom must be an npub\nUsage: /pay <whom> <amount> [every]"),
        ("/pay", "whom is missing\nUsage: /pay <whom> <amount> [every]"),
    ])
    func rejectsInvalidUses(content: String, answer: String) async throws {
        #expect(try await answers(of: bot, to: content) == [answer])
    }

    @Test func parsesUsersNumbersAndDurations() async throws {
        // The key of NIP-19's example.
        let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
        #expect(try await answers(of: bot, to: "/pay \(npub) 2.5 10m") == ["7e7e 2.5", "600.0 seconds"])
        #expect(try await answers(of: bot, to: "/pay nostr:\(npub) 3") == ["7e7e 3.0"])
        let wrong = "every must be a duration such as 10m\nUsage: /pay <whom> <amount> [every]"
        #expect(try await answers(of: bot, to: "/pay \(npub) 3 soon") == [wrong])
    }

    @Test func helpListsDescribedCommands() async throws {
        let all = """
            /roll <count> [d6|d20] [why…]: Rolls dice.
            /pay <whom> <amount> [every]: Pays.
            /now: The time.
            """
        #expect(try await answers(of: bot, to: "/help") == [all])
        #expect(try await answers(of: bot, to: "/help now") == ["/now\nThe time."])
        #expect(try await answers(of: bot, to: "/help /NOW") == ["/now\nThe time."])
        #expect(try await answers(of: bot, to: "/help rol") == ["unknown command rol; did you mean roll?"])
        #expect(try await answers(of: bot, to: "/help xyzzy") == ["unknown command xyzzy"])
    }

    @Test func helpCanBeDisabledOrReplaced() async throws {
        let silent = ListedBot { OnCommand("now", help: "The time.") { _, _ in } }
        #expect(try await answers(of: silent.with(help: .off), to: "/help").isEmpty)
        #expect(
            try await answers(of: silent.with(help: .command("hilfe", prefix: "!")), to: "!hilfe") == [
                "/now: The time."
            ])
        #expect(try await answers(of: ListedBot { OnCommand("now") { _, _ in } }, to: "/help").isEmpty)
        let own = ListedBot {
            OnCommand("now", help: "The time.") { _, _ in }
            OnCommand("help") { _, context in context.send("own") }
        }
        #expect(try await answers(of: own, to: "/help") == ["own"])
    }
}
