import BotKit
import ProbeReports
import Testing

@testable import RelayProbeBot

struct SettingsTests {
    private func problems(_ settings: BotSettings) -> [String] {
        do {
            _ = try RelayProbeSettings(settings)
            return []
        } catch { return error.problems.map(\.description) }
    }

    @Test func reportsInvalidSettings() {
        let noRelays = "with: expected targets or allow, found a mapping; list relays: targets: [wss://…]"
        #expect(problems([:]) == [noRelays])
        #expect(
            problems(["targets": ["one.example"]]) == [
                "targets[0]: expected an element of a list of relay URLs (wss://…), found \"one.example\"; "
                    + "write a list of relay URLs (wss://…)",
                noRelays,
            ])
        #expect(
            problems(["targets": ["wss://a.example"], "every": "1s"]) == [
                "every: expected 10s or more, found \"1s\"; write every: 60s; each probe writes about 30 events"
            ])
        #expect(
            problems(["targets": ["wss://a.example"], "timeout": "1m"]) == [
                "timeout: expected 1s to 25s, found \"1m\"; write timeout: 20s; a handler's deadline is 30s"
            ])
        #expect(
            problems(["targets": ["wss://a.example/x", "wss://a.example/y"]]) == [
                "targets: expected each host and port once, found a.example:443; "
                    + "metrics identify a relay by host and port; keep one of them"
            ])
        #expect(
            problems(["targets": ["wss://a.example"], "wirtes": false]) == [
                "wirtes: expected one of every, timeout, writes, trust, login, announce, allow, targets, "
                    + "found the unknown key \"wirtes\"; write writes"
            ])
        #expect(
            problems(["allow": ["wss://*"]]) == [
                "allow[0]: expected an element of a list of relay URLs (the host may begin with *.), "
                    + "found \"wss://*\"; write a list of relay URLs (the host may begin with *.)",
                noRelays,
            ])
        #expect(problems(["targets": ["wss://a.example"]]) == [])
    }

    @Test(arguments: [
        ("wss://relay.example", "wss://relay.example", true), ("wss://relay.example", "wss://relay.example/", true),
        ("wss://relay.example", "wss://RELAY.example:443", true), ("wss://relay.example", "ws://relay.example", false),
        ("wss://relay.example", "wss://relay.example:8443", false),
        ("wss://relay.example", "wss://relay.example/x", false),
        ("wss://relay.example", "wss://a.relay.example", false), ("wss://*.example", "wss://a.example", true),
        ("wss://*.example", "wss://a.b.example", true), ("wss://*.example", "wss://example", false),
        ("wss://*.example", "wss://aexample", false), ("wss://*.example", "wss://a.example.evil", false),
        ("wss://*.example:8443/x", "wss://a.example:8443/x", true), ("ws://*.example", "ws://a.example", true),
    ])
    func patternsMatchTheirRelays(pattern: String, address: String, matches: Bool) throws {
        let pattern = try #require(TargetPattern(pattern))
        #expect(pattern.matches(try RelayURL(address)) == matches)
    }

    @Test(arguments: [
        "wss://*", "*", "wss://*.", "*.example", "wss://a*.example", "wss://*.*.example", "https://*.example", "wss://",
        "wss://*.0.0.1", "wss://*:443", "",
    ])
    func refusesOverlyBroadPatterns(text: String) {
        #expect(TargetPattern(text) == nil)
    }
}
