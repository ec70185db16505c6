import Nostr
import Testing

@testable import BotKit
@testable import PikaCore

struct CommandTests {
    private func command(_ content: String, kind: Kind = .chatMessage, prefix: String = "/") -> Command? {
        Command(messageEvent(content, kind: kind), in: scope(), prefix: prefix)
    }

    @Test(arguments: [
        ("/ping", "ping", []), ("  /PING  ", "ping", []), ("/roll 2 d6", "roll", ["2", "d6"]),
        ("/say \"two words\" one", "say", ["two words", "one"]), ("/say \"never closed", "say", ["never closed"]),
        ("/say \"\" a\"b c\"d", "say", ["", "ab cd"]), ("@greeter /ping x", "ping", ["x"]),
        ("greeter: /ping", "ping", []), ("/line\none\ttwo", "line", ["one", "two"]),
    ])
    func parsesCommands(content: String, name: String, arguments: [String]) {
        let command = command(content)
        #expect(command?.name == name)
        #expect(command?.arguments == arguments)
    }

    @Test(arguments: ["", "/", "/ ping", "ping", "see /ping", "@other /ping", "//"])
    func ignoresOtherText(content: String) {
        #expect(command(content)?.name != "ping")
        if content != "//" { #expect(command(content) == nil) }
    }

    @Test func keepsTextUnchanged() {
        #expect(command(" /say  a  \"b\" \n")?.text == "a  \"b\"")
        #expect(command("!go now", prefix: "!")?.arguments == ["now"])
        #expect(command("/ping", kind: .reaction) == nil)
    }
}
