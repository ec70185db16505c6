import ArgumentParser
import Nostr
import PikaCore
import Testing

@testable import BotProgram
@testable import pikabot

@Suite struct ClientCommandTests {
    static let hex = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"

    private func parse<Command: ParsableCommand>(_ type: Command.Type, _ arguments: [String]) throws -> Command {
        try #require(try Pikabot.parseAsRoot(Self.moved(arguments)) as? Command)
    }

    @Test func acceptsAccountOptionsOnBothSides() throws {
        for arguments in [
            [
                "--state-dir", "/s", "--relay=ws://a.example", "--remote", "groups", "--relay", "ws://b.example",
                "--json",
            ],
            [
                "groups", "--state-dir", "/s", "--relay", "ws://a.example", "--relay", "ws://b.example", "--remote",
                "--json",
            ],
            ["--json", "--relay", "ws://a.example", "groups", "--relay=ws://b.example", "--state-dir=/s", "--remote"],
        ] {
            let options = try parse(Pikabot.Groups.self, arguments).options
            #expect(options.stateDirectory == "/s")
            #expect(options.relays.map(\.url.string) == ["ws://a.example", "ws://b.example"])
            #expect(options.remote && options.json && !options.table)
        }
    }

    private static func moved(_ arguments: [String]) throws -> [String] {
        try ClientOptions.leading.moved(arguments, in: Pikabot.self)
    }

    @Test(arguments: [
        [], ["groups"], ["--help"], ["--version"], ["messages", "--state-dir", "/s"], ["help", "daemon", "token"],
        ["probe", "wss://x", "--json"], ["--foo", "groups"],
    ])
    func keepsOtherArguments(arguments: [String]) throws {
        #expect(try Self.moved(arguments) == arguments)
    }

    @Test(arguments: [
        (["--state-dir", "groups", "identity"], ["identity", "--state-dir", "groups"]),
        (["--json", "daemon", "token", "--name", "x"], ["daemon", "token", "--json", "--name", "x"]),
        (
            ["daemon", "--state-dir", "/s", "token", "--name", "x"],
            ["daemon", "token", "--state-dir", "/s", "--name", "x"]
        ),
        (["daemon", "--state-dir=/s", "--require-token"], ["daemon", "--state-dir=/s", "--require-token"]),
        (["--json", "probe", "wss://x"], ["probe", "--json", "wss://x"]), (["--json", "--help"], ["--help"]),
        (["--state-dir", "/s", "help", "send"], ["help", "send"]),
    ])
    func movesOptionsBehindSubcommand(arguments: [String], expected: [String]) throws {
        #expect(try Self.moved(arguments) == expected)
    }

    @Test(arguments: [
        (["sned"], #"unknown subcommand "sned"; `pikabot --help` lists"#),
        (["--state-dir", "/s", "sned"], #"unknown subcommand "sned""#), (["--json", "sned", "--to", "x"], "sned"),
        (["daemon", "tokn"], #"unknown subcommand "tokn"; `pikabot daemon --help` lists"#),
        (["--state-dir"], "--state-dir: expected a value"), (["--state-dir", "/s"], "expected a subcommand"),
        (["--relay=ws://a.example"], "expected a subcommand"),
    ])
    func namesUnknownSubcommand(arguments: [String], text: String) {
        let error = #expect(throws: ValidationError.self) { try Self.moved(arguments) }
        #expect(error?.message.contains(text) == true)
        #expect(error.map { CommandFailure($0, of: Pikabot.self).status } == .validationFailure)
    }

    @Test func everyAccountOptionMayLead() throws {
        let names = Set(Pikabot.Identity.helpMessage().matches(of: /--[a-z-]+/).map { String($0.output) })
        #expect(names.isSuperset(of: ["--state-dir", "--relay", "--kp-relay", "--remote", "--json"]))
        for name in names.subtracting(["--help", "--version"]) {
            let isFlag = ["--remote", "--json", "--allow-private-addresses"].contains(name)
            let option = isFlag ? [name] : [name, "x"]
            #expect(try Self.moved(option + ["identity"]) == ["identity"] + option, "\(name)")
        }
    }

    /// Every subcommand with account options accepts them before its name too.
    @Test func accountCommandsAcceptLeadingOptions() throws {
        let own = BotProgram.commands.map { $0._commandName }
        for command in Pikabot.configuration.subcommands where !own.contains(command._commandName) {
            guard command.helpMessage().contains("--state-dir") else { continue }
            let moved = try Self.moved(["--state-dir", "/s", "--relay", "ws://a.example", command._commandName])
            #expect(moved == [command._commandName, "--state-dir", "/s", "--relay", "ws://a.example"])
        }
    }

    @Test func parsesSend() throws {
        let text = try parse(Pikabot.Send.self, ["send", "--group", "ab", "--content", "hello"])
        #expect(text.target.group == "ab" && text.target.to == nil && text.content == "hello" && text.media == nil)
        let npub = try PublicKey(hex: Self.hex).npub
        let file = try parse(
            Pikabot.Send.self,
            [
                "send", "--to", npub, "--media", "a.png", "--mime-type", "image/png", "--filename", "b.png",
                "--blossom", "http://127.0.0.1:1", "--blossom", "https://b.example/",
            ])
        #expect(file.target.to?.key.hex == Self.hex && file.media == "a.png" && file.content.isEmpty)
        #expect(file.mimeType == "image/png" && file.filename == "b.png")
        #expect(file.mediaServers.map(\.url.description) == ["http://127.0.0.1:1", "https://b.example"])
    }

    @Test func parsesOtherCommands() throws {
        let messages = try parse(Pikabot.Messages.self, ["messages", "--group", "ab"])
        #expect(messages.group == "ab" && messages.limit == 50)
        #expect(try parse(Pikabot.Messages.self, ["messages", "--group", "ab", "--limit", "3"]).limit == 3)
        let listen = try parse(Pikabot.Listen.self, ["listen"])
        #expect(listen.timeout == 60 && listen.lookback == 86_400)
        let short = try parse(Pikabot.Listen.self, ["listen", "--timeout", "0", "--lookback", "5"])
        #expect(short.timeout == 0 && short.lookback == 5)
        for name in ["--event-id", "--wrapper-event-id"] {
            #expect(try parse(Pikabot.AcceptWelcome.self, ["accept-welcome", name, Self.hex]).eventID == Self.hex)
        }
        let invite = try parse(Pikabot.Invite.self, ["invite", "--peer", " \(Self.hex)\n"])
        #expect(invite.peer.key.hex == Self.hex && invite.name == "DM" && invite.groupProtocol == nil)
        let chosen = try parse(Pikabot.Invite.self, ["invite", "--peer", Self.hex, "--protocol", "auto"])
        #expect(chosen.groupProtocol?.groupProtocol == .auto)
        let disband = try parse(Pikabot.Disband.self, ["disband", "--group", "ab", "--enable"])
        #expect(disband.group == "ab" && disband.enable)
        let download = try parse(Pikabot.DownloadMedia.self, ["download-media", Self.hex, "--output", "f"])
        #expect(download.messageID == Self.hex && download.output == "f")
    }

    @Test func linkSchemeFollowsChannel() throws {
        func scheme(_ arguments: [String], _ environment: [String: String] = [:]) throws -> String {
            try parse(Pikabot.QR.self, ["qr"] + arguments).linkScheme(environment)
        }
        #expect(try scheme([]) == "pika")
        #expect(try scheme(["--channel", "dev"]) == "pikadev")
        #expect(try scheme(["--channel", "test"], ["PIKA_CHANNEL": "dev"]) == "pikatest")
        #expect(try scheme([], ["PIKA_CHANNEL": "dev"]) == "pikadev")
        #expect(try scheme(["--scheme", " My.App "]) == "my.app")
        #expect(throws: ValidationError.self) { try scheme([], ["PIKA_CHANNEL": "beta"]) }
        #expect(throws: (any Error).self) { try scheme(["--scheme", ""]) }
        #expect(throws: (any Error).self) { try scheme(["--scheme", "a b"]) }
    }

    @Test(

        arguments: [
            ["update-profile"], ["update-profile", "--blossom", "http://b"], ["update-group-profile", "--group", "ab"],
            ["update-group-profile", "--name", "x"], ["qr", "--channel", "beta"], ["send-hypernote", "--group", "ab"],
            ["send-hypernote", "--group", "ab", "--content", "x", "--file", "f"],
            ["send-hypernote", "--group", "ab", "--content", "x", "--state", "[]"],
            ["send", "--content", "x"], ["send", "--group", "ab"],
            ["send", "--group", "ab", "--to", hex, "--content", "x"],
            ["send", "--to", "npub1x", "--content", "x"],
            ["send", "--group", "ab", "--content", "x", "--filename", "f"],
            ["send", "--group", "ab", "--media", "f", "--blossom", "ftp://x"], ["messages"],
            ["messages", "--group", "ab", "--limit", "0"], ["listen", "--timeout", "-1"],
            ["listen", "--lookback", "x"],
            ["accept-welcome"], ["accept-welcome", "--event-id", "ab"], ["download-media"], ["download-media", "zz"],
            ["invite"], ["invite", "--peer", "bob"], ["invite", "--peer", hex, "--protocol", "v3"], ["disband"],
            ["groups", "--relay", "http://x"], ["groups", "--state-dir", ""],
        ])
    func refusesWrongUsage(arguments: [String]) {
        let error = #expect(throws: (any Error).self) { try Pikabot.parseAsRoot(arguments) }
        if let error {
            #expect(Pikabot.exitCode(for: error) == .validationFailure)
            #expect(Pikabot.fullMessage(for: error).hasPrefix("Error: "))
        }
    }
}
