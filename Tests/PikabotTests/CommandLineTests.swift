import ArgumentParser
import BotRuntime
import Nostr
import Testing

@testable import pikabot

@Suite struct CommandLineTests {
    @Test(arguments: [
        ("127.0.0.1:0", "127.0.0.1", 0), ("[::1]:80", "::1", 80), ("localhost:65535", "localhost", 65535),
    ])
    func listenAddressIsHostAndPort(text: String, host: String, port: UInt16) {
        let argument = ListenArgument(argument: text)
        #expect(argument?.host == host)
        #expect(argument?.port == port)
    }

    @Test(arguments: ["", "3334", ":3334", "host:", "host:65536", "host:-1", "[]:1"])
    func wrongListenAddressIsRefused(text: String) {
        #expect(ListenArgument(argument: text) == nil)
    }

    @Test func relayIsAWebSocketAddress() {
        #expect(RelayArgument(argument: "wss://relay.example")?.url.string == "wss://relay.example")
        #expect(RelayArgument(argument: "https://relay.example") == nil)
    }

    @Test func secondsOfListenHaveBounds() throws {
        #expect(throws: (any Error).self) { try Pikabot.Listen.parse(["--timeout", "9223372036854775807"]) }
        #expect(throws: (any Error).self) { try Pikabot.Listen.parse(["--lookback", "1000000001"]) }
        #expect(throws: (any Error).self) { try Pikabot.Listen.parse(["--timeout", "-1"]) }
        #expect(try Pikabot.Listen.parse(["--timeout", "1000000000"]).timeout == 1_000_000_000)
    }

    @Test func givenRelaysReplaceThePublicOnes() throws {
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
