import BotDispatch
import Foundation
import LiveTesting
import ProcessSupport
import Testing

@testable import ExternalBots

/// Programs that crash, hang, flood, or do not exist.
@Suite(.live, .serialized) struct MisbehaviourTests {
    private static func echo(_ before: String) -> String {
        """
        import os, sys, time, pikabot
        bot = pikabot.Bot()
        @bot.message()
        def answer(event, match):
        \(before.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
            event.reply(event.text)
        bot.run()
        """
    }

    private static func patience(_ milliseconds: Int) -> BotPolicy { BotPolicy(timeout: .milliseconds(milliseconds)) }

    @Test func retriesCrashingEventThreeTimes() async throws {
        let stage = try Stage(Self.echo("if event.text == 'die': os._exit(3)"))
        try await stage.run { () async throws in
            try await stage.say("die")
            #expect(try await stage.ask("fine") == "fine")
        }
        #expect(stage.log.count("The external bot's program failed during an event") == 3)
        #expect(stage.log.count("end=exit status 3") == 3)
        #expect(stage.log.count("dropped an event: dead letter") == 1)
    }

    @Test func givesUpStallingEvents() async throws {
        let stage = try Stage(
            Self.echo("if event.text == 'hang': time.sleep(1000)"), policy: Self.patience(2_000))
        try await stage.run { () async throws in
            try await stage.say("hang")
            #expect(try await stage.ask("fine") == "fine")
        }
        #expect(stage.log.count("end=stalled") == 3)
        #expect(stage.log.count("dropped an event: dead letter") == 1)
    }

    @Test func quarantinesProgramThatNeverReads() async throws {
        let stage = try Stage(command: ["sleep", "1000"], policy: Self.patience(200), intensity: 2)
        try await stage.run(grace: .milliseconds(200)) { () async throws in
            let began = ContinuousClock.now
            for number in 0..<300 { try await stage.say("\(number) " + String(repeating: "x", count: 1000)) }
            #expect(ContinuousClock.now - began < .seconds(60))
            _ = await stage.log.next("fails too often")
        }
        #expect(stage.log.count("end=stalled") == 3)
    }

    @Test func endsProgramThatReadsNoReplies() async throws {
        let stage = try Stage(
            """
            import os, time
            if not os.path.exists("once"):
                open("once", "w").close()
                os.write(1, b'{"cmd":"hello","protocol":2,"acks":true}\\n')
                while True: os.write(1, b'{"cmd":"list_groups"}\\n' * 100)
            import pikabot
            bot = pikabot.Bot()
            @bot.message()
            def answer(event, match):
                event.reply(event.text)
            bot.run()
            """, commands: ["list_groups", "send_message"], policy: Self.patience(2_000))
        try await stage.run { () async throws in
            _ = await stage.log.next("The external bot's program has exited")
            #expect(try await stage.ask("fine") == "fine")
        }
        #expect(stage.log.count("end=stalled: it did not read its replies") == 1)
    }

    @Test func quarantinesCrashLoopAndKeepsEvents() async throws {
        let account = FakeAccount()
        let broken = try Stage("import nothing_of_this_name", intensity: 3, account: account)
        try await broken.run { () async throws in
            try await broken.say("kept")
            _ = await broken.log.next("fails too often")
            try await broken.say("kept too")
        }
        #expect(broken.log.count("The external bot's program has exited") == 4)
        #expect(broken.log.count("No module named 'nothing_of_this_name'") == 4)
        #expect(broken.log.count("Events for it are kept while its record has room") == 1)
        let mended = try Stage(ProgramTests.echo, account: account)
        try await mended.run { () async throws in
            #expect(await account.nextSent() == "kept")
            #expect(await account.nextSent() == "kept too")
        }
    }

    @Test func quarantinesMissingProgram() async throws {
        let stage = try Stage(command: ["no-program-of-this-name"], intensity: 1)
        try await stage.run { _ = await stage.log.next("fails too often") }
        #expect(stage.log.count("end=not started") == 2)
    }

    @Test(arguments: [(RestartKind.transient, 0), (.temporary, 3)])
    func obeysTheRestartPolicy(kind: RestartKind, status: Int) async throws {
        let stage = try Stage(
            command: ["sh", "-c", "exit \(status)"], restart: kind)
        try await stage.run { _ = await stage.log.next("program is not restarted") }
        #expect(stage.log.count("The external bot's program has exited") == 1)
    }

    // MARK: Floods

    @Test func ignoresAndCountsGarbage() async throws {
        let stage = try Stage(
            Self.echo(
                """
                for number in range(6000): os.write(1, b"garbage\\n[1]\\n")
                """))
        #expect(try await stage.run { try await stage.ask("fine") } == "fine")
        #expect(stage.log.count("not commands") == 5, "for 1, 10, 100, 1000 and 10000 lines")
        #expect(stage.log.lines.allSatisfy { !$0.contains("garbage") })
    }

    @Test func discardsEndlessLines() async throws {
        let stage = try Stage(
            Self.echo("for number in range(17): os.write(1, b'x' * (1 << 20))\nos.write(1, b'\\n')"))
        #expect(try await stage.run { try await stage.ask("fine") } == "fine")
        #expect(stage.log.count("the line is too long") == 1)
    }

    @Test func limitsDiagnosticOutput() async throws {
        let stage = try Stage(
            Self.echo(
                """
                sys.stderr.write('y' * 5000 + "\\n")
                for number in range(5000): sys.stderr.write(f"line {number}\\n")
                """))
        #expect(try await stage.run { try await stage.ask("fine") } == "fine")
        let output = stage.log.lines.filter { $0.contains("Program output") }
        #expect(output.contains { $0.hasSuffix("line=" + String(repeating: "y", count: 1000) + "…") })
        #expect(output.count < 1500 && output.allSatisfy { $0.contains("bot.name=tested") })
    }

    // MARK: Shutdown

    @Test func killsChildProcesses() async throws {
        let stage = try Stage(
            """
            import subprocess, pikabot
            bot = pikabot.Bot()
            child = subprocess.Popen(["sleep", "1000"])
            @bot.message()
            def answer(event, match):
                event.reply(str(child.pid))
            bot.run()
            """)
        let pid = try await stage.run { try await stage.ask("?") }
        try await processEnds(try #require(Int32(pid)))
    }

    @Test func killsUnresponsiveProgramAfterGracePeriod() async throws {
        let stage = try Stage(
            """
            import signal, time, pikabot
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            bot = pikabot.Bot()
            @bot.message()
            def answer(event, match):
                event.reply("here")
            try: bot.run()
            finally: time.sleep(1000)
            """)
        let ended = try await stage.run(grace: .milliseconds(300)) {
            _ = try await stage.ask("?")
            return ContinuousClock.now
        }
        #expect(ContinuousClock.now - ended < .seconds(20))
    }

    @Test func letsProgramFinishDuringGracePeriod() async throws {
        let stage = try Stage(
            """
            import pikabot
            bot = pikabot.Bot()
            @bot.message()
            def answer(event, match):
                event.reply("here")
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            bot.run()
            open("ended", "w").close()
            """)
        _ = try await stage.run { try await stage.ask("?") }
        #expect(stage.exists("ended"))
    }
}
