import ArgumentParser
import BotConfiguration
import EmbeddedRelay
import Nostr
import Testing

@testable import pikabot

@Suite struct CommandLineTests {
    @Test(arguments: [
        ("127.0.0.1:0", "127.0.0.1", 0), ("[::1]:80", "::1", 80), ("localhost:65535", "localhost", 65535),
    ])
    func parsesListenAddress(text: String, host: String, port: UInt16) {
        let argument = ListenArgument(argument: text)
        #expect(argument?.host == host)
        #expect(argument?.port == port)
    }

    @Test(arguments: ["", "3334", ":3334", "host:", "host:65536", "host:-1", "host:+1", "::1:80", "[::1:80", "[]:1"])
    func refusesWrongListenAddress(text: String) {
        #expect(ListenArgument(argument: text) == nil)
    }

    @Test func parsesBinaryUnits() {
        let counts = ["1", "512", "2KiB", "500MiB", "16GiB", "1TiB"].map { ByteCountArgument(argument: $0)?.bytes }
        #expect(counts == [1, 512, 2_048, 500 << 20, 16 << 30, 1 << 40])
        for text in [
            "", "0", "GiB", "-1", "+1", "1GB", "1 GiB", "1gib", "9223372036854775807KiB", "99999999999999999999",
        ] {
            #expect(ByteCountArgument(argument: text) == nil, "\(text)")
        }
    }

    @Test func relayOptionsSetLimits() throws {
        func limits(_ arguments: [String]) throws -> RelayLimits {
            var limits = RelayLimits()
            try Pikabot.RelayCommand.parse(arguments).apply(to: &limits)
            return limits
        }
        #expect(try limits([]) == RelayLimits())
        let some = try limits([
            "--connections", "5", "--address-connections", "3", "--rate", "7", "--limit-loopback", "--data-quota",
            "1MiB", "--media-quota", "2MiB",
        ])
        #expect(some.connections == 5 && some.connectionsPerAddress == 3 && some.limitsLoopback)
        #expect(some.messagesPerSecond == 7 && some.messagesPerSecondPerAddress == 28)
        #expect(some.databaseBytes == 1 << 20 && some.mediaBytes == 2 << 20)
        let none = try limits(["--address-connections", "0", "--rate", "0"])
        #expect(none.connectionsPerAddress == nil && none.messagesPerSecond == nil)
        #expect(none.messagesPerSecondPerAddress == nil)
        #expect(try limits(["--rate", "\(Int.max)"]).messagesPerSecondPerAddress == nil)
        for wrong in [["--rate", "-1"], ["--address-connections", "-1"], ["--data-quota", "0"]] {
            #expect(throws: (any Error).self) { try Pikabot.RelayCommand.parse(wrong) }
        }
    }

    @Test func relayMustBeWebSocketURL() {
        #expect(RelayArgument(argument: "wss://relay.example")?.url.string == "wss://relay.example")
        #expect(RelayArgument(argument: "https://relay.example") == nil)
    }

    @Test func boundsListenSeconds() throws {
        #expect(throws: (any Error).self) { try Pikabot.Listen.parse(["--timeout", "9223372036854775807"]) }
        #expect(throws: (any Error).self) { try Pikabot.Listen.parse(["--lookback", "1000000001"]) }
        #expect(throws: (any Error).self) { try Pikabot.Listen.parse(["--timeout", "-1"]) }
        #expect(try Pikabot.Listen.parse(["--timeout", "1000000000"]).timeout == 1_000_000_000)
    }

    @Test func givenRelaysReplaceDefaults() throws {
        func relays(_ arguments: [String]) throws -> ([String], [String]) {
            let options = try ClientOptions.parse(arguments)
            return (try options.messageRelays().map(\.string), try options.relaysForKeyPackages().map(\.string))
        }
        #expect(try relays([]).0.count == 5 && relays([]).1.count == 3)
        #expect(try relays(["--relay", "ws://a.example"]) == (["ws://a.example"], []))
        #expect(
            try relays(["--relay", "ws://a.example", "--kp-relay", "ws://b.example", "--kp-relay", "ws://b.example/"])
                == (["ws://a.example"], ["ws://b.example"]))
    }

    @Test func stateDirectoryFollowsTheEnvironment() {
        #expect(ClientOptions.defaultStateDirectory(["XDG_STATE_HOME": "/var/x"]) == "/var/x/pikachat")
        #expect(ClientOptions.defaultStateDirectory([:]).hasSuffix("/.local/state/pikachat"))
        #expect(ClientOptions.defaultStateDirectory(["XDG_STATE_HOME": "x"]).hasSuffix("/.local/state/pikachat"))
    }

    @Test func embeddedDemoConfigurationIsValid() throws {
        let configuration = try Configuration.parse(
            DemoConfiguration.embedded, file: "demo.yaml", folder: "/tmp", knownBots: BotRegistry.included.names)
        #expect(configuration.accounts.map(\.name) == ["echo"])
        #expect(configuration.accounts.first?.invites == .anyone)
    }
}
