import Foundation
import LiveTesting
import Testing

@testable import ExternalBots

/// Whichever process is killed, every message is answered once.
@Suite(.live, .serialized) struct ExactlyOnceTests {
    /// Kills itself once at every seventh message: before its answer, after it, or before the next message.
    private static let mortal = """
        import os, signal, pikabot
        bot = pikabot.Bot()
        def die(place, text):
            number, path = int(text), f"died-{text}"
            if number % 7 == 3 and number // 7 % 3 == place and not os.path.exists(path):
                open(path, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        @bot.message()
        def answer(event, match):
            die(0, event.text)
            event.reply("re " + event.text)
            die(1, event.text)
        process = bot._process
        def traced(line):
            process(line)
            if line.get("content"): die(2, line["content"])
        bot._process = traced
        bot.run()
        """

    @Test func actsOnceDespiteKilledProgram() async throws {
        let stage = try Stage(Self.mortal)
        try await stage.run { () async throws in
            for number in 0..<50 { try await stage.say("\(number)") }
            for _ in 0..<50 { _ = await stage.account.nextSent() }
            #expect(try await stage.ask("1000") == "re 1000")
        }
        #expect(stage.account.sent.map(\.text) == (0..<50).map { "re \($0)" } + ["re 1000"])
        #expect(stage.log.count("end=signal 9") == 7)
        #expect(stage.log.count("dropped an event: dead letter") == 0)
    }

    @Test func actsOnceDespiteLateRedelivery() async throws {
        let account = FakeAccount()
        let first = try account.message("first", in: FakeAccount.otherGroup)
        let absent = try Stage(command: ["sleep", "1000"], account: account)
        try await absent.run(grace: .milliseconds(200)) { () async throws in
            try await absent.bot.intake.deliver(first)
            // Another bot handles it for a long time.
            for number in 0..<200 { try await absent.say("\(number)") }
        }
        let later = try Stage(ProgramTests.echo, account: account)
        try await later.run { () async throws in
            try await later.bot.intake.deliver(first)
            try await later.say("last")
            while await account.nextSent() != "last" {}
        }
        #expect(account.sent.map(\.text) == ["first"] + (0..<200).map { "\($0)" } + ["last"])
    }

    @Test func actsOnceDespiteWorkerRestart() async throws {
        let account = FakeAccount()
        let silent = try Stage(
            """
            import pikabot
            bot = pikabot.Bot()
            @bot.message()
            def answer(event, match):
                event.reply("re " + event.text)
                bot._read()
            bot.run()
            """, account: account)
        #expect(try await silent.run { try await silent.ask("first") } == "re first")
        let later = try Stage(
            ProgramTests.echo.replacing("event.text)", with: "\"re \" + event.text)"), account: account)
        #expect(try await later.run { try await later.ask("second") } == "re second")
        #expect(account.sent.map(\.text) == ["re first", "re second"])
    }
}
