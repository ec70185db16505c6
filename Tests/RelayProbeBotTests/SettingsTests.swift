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
        #expect(
            problems([:]) == [": expected targets or allow, found a mapping; list relays: targets: [wss://…]"]
                || problems([:]).first?.contains("expected targets or allow") == true)
        #expect(problems(["targets": ["one.example"]]).first?.contains("an element of a list of relay URLs") == true)
        #expect(problems(["targets": ["wss://a.example"], "every": "1s"]).first?.contains("10s or more") == true)
        #expect(problems(["targets": ["wss://a.example"], "timeout": "1m"]).first?.contains("1s to 25s") == true)
        #expect(
            problems(["targets": ["wss://a.example/x", "wss://a.example/y"]]).first?.contains("a.example:443") == true)
        #expect(problems(["targets": ["wss://a.example"], "wirtes": false]).first?.contains("write writes") == true)
        #expect(problems(["allow": ["wss://*"]]).count >= 1)
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
