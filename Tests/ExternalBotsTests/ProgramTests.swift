import BotDispatch
import Foundation
import LiveTesting
import PikaCore
import ProcessSupport
import Testing

@testable import ExternalBots

/// Real programs under their daemon: their permissions, and the account's state when they misbehave.
@Suite(.live, .serialized) struct ProgramTests {
    /// Answers every message with its text.
    static let echo = """
        import pikabot
        bot = pikabot.Bot()
        @bot.message()
        def answer(event, match):
            event.reply(event.text)
        bot.run()
        """

    /// Repeats every message in capitals, and does not use the extension.
    private static let plain = """
        import json, sys
        for line in sys.stdin:
            event = json.loads(line)
            if event["type"] == "message_received":
                print(json.dumps({"cmd": "send_message", "nostr_group_id": event["nostr_group_id"],
                                  "content": event["content"].upper()}), flush=True)
            elif event["type"] == "ready":
                print(json.dumps({"cmd": "send_typing", "nostr_group_id": "\(FakeAccount.group)"}), flush=True)
        """

    @Test func answersEvents() async throws {
        let stage = try Stage(Self.echo)
        try await stage.run { () async throws in
            #expect(try await stage.ask("hello ✓") == "hello ✓")
            #expect(try await stage.ask("there", in: FakeAccount.direct) == "there")
        }
        #expect(stage.account.sent.map(\.chatID) == [FakeAccount.group, FakeAccount.direct])
        #expect(stage.log.count("program is not restarted") == 0)
    }

    @Test func answersWithoutAcks() async throws {
        let stage = try Stage(Self.plain)
        #expect(try await stage.run { try await stage.ask("loud") } == "LOUD")
        // The written event is consumed, so it is not delivered again.
        let later = try Stage(Self.plain, account: stage.account)
        #expect(try await later.run { try await later.ask("again") } == "AGAIN")
    }

    // MARK: Outcomes

    /// Sends every message back, and tells the outcomes of its own commands.
    private static let telling = """
        import pikabot
        bot = pikabot.Bot()
        @bot.message()
        def repeat(event, match):
            event.reply(bot.call("send_message", nostr_group_id=event.chat, content="1")["action"])
        @bot.outcome()
        def tell(event):
            left = ",".join(peer["error"] for peer in event.left_out)
            event.bot.send("\(FakeAccount.group)", f"{event.name} {event.result} {event.error} {left}")
        bot.run()
        """

    @Test func programReceivesOutcomes() async throws {
        let stage = try Stage(Self.telling)
        let left = [stage.account.peer: InviteFailure.keyPackage(.missing)]
        try await stage.run { () async throws in
            #expect(try await stage.ask("x") == "1")
            let action = try #require(stage.account.reported.first)
            #expect(await stage.account.nextSent() == action.rawValue)
            // Both commands of the handler were tracked, under names of their own.
            #expect(stage.account.reported.count == 2 && action.bot == "tested")
            let results: [ActionResult] = [.partlyDone(left: left), .failed(AppCoreError(.notPublished, "no"))]
            for (number, result) in results.enumerated() {
                // An action without a chat has an outcome without one.
                let chatID = number == 0 ? FakeAccount.group : ""
                try await stage.bot.intake.deliver(stage.account.outcome(action, result, in: chatID))
            }
            #expect(await stage.account.nextSent() == "send_message partly_done None no_key_package")
            #expect(await stage.account.nextSent() == "send_message failed not_published ")
        }
        // The commands of the outcome handler are not tracked.
        #expect(stage.account.reported.count == 2)
    }

    // MARK: Permissions

    /// Executes the command in a message, and answers with the result.
    private static let obedient = """
        import json, pikabot
        bot = pikabot.Bot()
        @bot.message()
        def obey(event, match):
            try:
                result = bot.call(**json.loads(event.text))
                event.reply("ok " + json.dumps(result, sort_keys=True))
            except pikabot.CommandError as error:
                event.reply(str(error))
        bot.run()
        """

    private static func command(_ name: String, _ group: String? = nil, _ rest: String = "") -> String {
        let chat = group.map { #","nostr_group_id":"\#($0)""# } ?? ""
        return #"{"command":"\#(name)"\#(chat)\#(rest)}"#
    }

    @Test func refusalNamesTheMissingPermission() async throws {
        let stage = try Stage(Self.obedient)
        try await stage.run { () async throws in
            #expect(
                try await stage.ask(Self.command("leave_group", FakeAccount.group.rawValue)) == """
                    not_allowed: tested may not use leave_group; to allow it, write in its configuration: \
                    allow: { commands: [leave_group, react, send_hypernote, send_message, send_typing] }
                    """)
            let refusal = try await stage.ask(Self.command("publish_keypackage", nil, #","relays":[]"#))
            #expect(refusal.hasPrefix("not_allowed: tested may not use publish_keypackage; to allow it, write"))
            #expect(
                try await stage.ask(Self.command("set_relays", nil, #","relays":[]"#))
                    == "not_allowed: external bots may not use set_relays: the configuration controls it")
            #expect(try await stage.ask(Self.command("sing")) == "parse_error: unknown command `sing`")
        }
    }

    @Test func commandsAreLimitedToItsChats() async throws {
        let policy = BotPolicy(
            groups: GroupPolicy(.all, exceptions: [FakeAccount.otherGroup: .none]), timeout: .seconds(300))
        let stage = try Stage(
            Self.obedient, commands: ["send_message", "list_groups", "list_members"],
            groups: [FakeAccount.group, FakeAccount.otherGroup], policy: policy)
        let direct = FakeAccount.direct.rawValue
        try await stage.run { () async throws in
            #expect(
                try await stage.ask(Self.command("send_message", direct, #","content":"x""#)) == """
                    not_allowed: tested may not use this chat; to allow it, write in its configuration: allow: \
                    { groups: [\(FakeAccount.group), \(FakeAccount.otherGroup), \(FakeAccount.direct)] }
                    """)
            #expect(
                try await stage.ask(Self.command("list_members", FakeAccount.otherGroup.rawValue.uppercased())) == """
                    not_allowed: tested is not active in this group; to allow it, write in its configuration: \
                    groups: { chats: { \(FakeAccount.otherGroup): all } }
                    """)
            #expect(
                try await stage.ask(Self.command("list_members", "12"))
                    == "bad_group_id: no group has the nostr_group_id 12")
            let listed = try await stage.ask(Self.command("list_groups"))
            #expect(listed.contains(FakeAccount.group.rawValue) && listed.contains(FakeAccount.direct.rawValue))
            #expect(!listed.contains(FakeAccount.otherGroup.rawValue))
        }
    }

    @Test func deliversCallsWithoutOtherEvents() async throws {
        let stage = try Stage(
            """
            import pikabot
            bot = pikabot.Bot()
            @bot.on("call_invite_received")
            def rings(event):
                event.reply("rings " + event.raw["call_id"])
            @bot.message()
            def answer(event, match):
                event.reply(event.text)
            bot.run()
            """)
        try await stage.run { () async throws in
            let call = try stage.account.call("one", in: FakeAccount.group)
            #expect(
                try await stage.ask("hello") == "hello", "it has seen the state with the call, which is not its own")
            stage.bot.calls.add("one")
            try await stage.bot.intake.deliver(call)
            try await stage.say("last")
            try #require(await stage.account.nextSent() == "rings one")
            #expect(await stage.account.nextSent() == "last")
        }
    }

    @Test func callCommandsAreLimitedToItsChats() async throws {
        let stage = try Stage(
            Self.obedient, commands: ["send_message", "accept_call", "end_call"], groups: [FakeAccount.group])
        try await stage.run { () async throws in
            let call = try stage.account.call("one", in: FakeAccount.otherGroup)
            stage.bot.calls.add("one")
            try await stage.bot.intake.deliver(call)
            for name in ["accept_call", "end_call"] {
                #expect(
                    try await stage.ask(Self.command(name, nil, #","call_id":"one""#)) == """
                        not_allowed: tested may not use this chat; to allow it, write in its configuration: allow: \
                        { groups: [\(FakeAccount.group), \(FakeAccount.otherGroup)] }
                        """)
            }
            #expect(
                try await stage.ask(Self.command("accept_call", nil, #","call_id":"two""#)).hasPrefix("not_found"))
        }
    }

    @Test func hidesChatsOutsideItsScope() async throws {
        let account = FakeAccount()
        let absent = try Stage(command: ["sleep", "1000"], account: account)
        try await absent.run { () async throws in
            try await absent.say("secret", in: FakeAccount.otherGroup)
            try await absent.say("open")
            #expect(await absent.bot.status.waiting == 2)
        }
        let policy = BotPolicy(groups: GroupPolicy(.all, exceptions: [FakeAccount.otherGroup: .none]))
        let later = try Stage(Self.echo, policy: policy, account: account)
        #expect(try await later.run { try await later.ask("last") } == "open")
        #expect(account.sent.map(\.text).contains("secret") == false)
        #expect(later.log.count("its chat is no longer the program's") == 1)
    }

    @Test func reportsItsStatus() async throws {
        let stage = try Stage(command: ["sleep", "1000"], restart: .temporary)
        #expect(await stage.bot.status.state == .waiting)
        try await stage.run { () async throws in
            for number in 0..<3 { try await stage.say("\(number)") }
            let status = await stage.bot.status
            #expect(status.name == "tested" && status.state == .running && status.waiting == 3)
            #expect(status.restarts == 0 && status.since != nil)
        }
        let failing = try Stage(command: ["false"], intensity: 2)
        try await failing.run { _ = await failing.log.next("fails too often") }
        let status = await failing.bot.status
        #expect(status.state == .quarantined && status.restarts == 2 && status.since == nil)
    }

    @Test func usesConfiguredEnvironmentAndDirectory() async throws {
        let stage = try Stage(
            command: ["cp", "/proc/self/environ", "environ"], environment: ["MODE": "quiet", "LANG": "C.UTF-8"],
            restart: .temporary)
        try await stage.run { _ = await stage.log.next("program is not restarted") }
        let content = try String(contentsOfFile: "\(stage.folder)/environ", encoding: .utf8)
        let variables = Set(content.split(separator: "\0").map(String.init))
        let own = ProcessInfo.processInfo.environment
        var expected: Set = [
            "MODE=quiet", "LANG=C.UTF-8", "PYTHONPATH=\(Stage.examples)", "PYTHONDONTWRITEBYTECODE=1",
            "PATH=\(own["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")",
        ]
        if let home = own["HOME"] { expected.insert("HOME=\(home)") }
        #expect(variables == expected)
    }

    @Test func shutdownEndsWithoutRestart() async throws {
        let stage = try Stage(Self.obedient, restart: .transient)
        try await stage.run { () async throws in
            try await stage.say(Self.command("shutdown"))
            _ = await stage.log.next("program is not restarted")
        }
        #expect(stage.account.sent.isEmpty)
    }
}
