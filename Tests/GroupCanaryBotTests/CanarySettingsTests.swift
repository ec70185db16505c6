import BotKit
import Testing

@testable import GroupCanaryBot

@Suite struct CanarySettingsTests {
    private let npub = BotSettings.string("npub10000003zmk89narqpczy4ff6rnuht2wu05na7kpnh3mak7z2tqzsv8vwqk")

    private func problems(_ settings: BotSettings) -> [String] {
        do throws(BotSettingsError) {
            _ = try CanarySettings(settings)
            return []
        } catch { return error.problems.map(\.path) }
    }

    private func problems(ofGroup group: [String: BotSettings]) -> [String] {
        problems(["role": "sender", "groups": ["main": .object(group)]])
    }

    @Test func readsValidSettings() throws {
        #expect(problems(["role": "mirror", "senders": [npub]]).isEmpty)
        #expect(problems(ofGroup: ["peers": ["bob": npub]]).isEmpty)
        let settings: BotSettings = [
            "role": "sender",
            "groups": [
                "main": [
                    "peers": ["bob": npub], "mirrors": ["bob"],
                    "checks": [["send": "/ping", "from": "bob", "answer": "pong"], ["send": "x", "silence": "5s"]],
                ]
            ],
        ]
        guard case .sender(let sender) = try CanarySettings(settings), let group = sender.groups.first else {
            Issue.record("expected a sender")
            return
        }
        #expect(group.title == "canary main" && group.checks.map(\.name) == ["check1", "check2"])
        #expect(group.checks.first?.from == group.peers.first?.account && sender.every == .seconds(60))
    }

    @Test func protocolIsForCreatedGroups() {
        let chat = BotSettings.string(String(repeating: "ab", count: 32))
        #expect(problems(ofGroup: ["peers": ["bob": npub], "protocol": "v2"]).isEmpty)
        #expect(problems(ofGroup: ["peers": ["bob": npub], "protocol": "v3"]) == ["groups.main.protocol"])
        #expect(
            problems(ofGroup: ["peers": ["bob": npub], "protocol": "v2", "chat": chat]) == ["groups.main.protocol"])
    }

    /// Otherwise each canary would leave the window before its deadline.
    @Test func windowExceedsCanariesSentWithinTimeout() throws {
        func settings(_ every: BotSettings, _ timeout: BotSettings, _ window: BotSettings) -> BotSettings {
            [
                "role": "sender", "every": every, "timeout": timeout, "window": window,
                "groups": ["main": ["peers": ["bob": npub]]],
            ]
        }
        #expect(problems(settings("1s", "30s", 31)) == ["window"])
        #expect(problems(settings("1s", "30s", 32)).isEmpty)
        #expect(problems(settings("60s", "30s", 10)).isEmpty)
        #expect(problems(settings("1s", "3600s", 1000)) == ["window"])
        let error = #expect(throws: BotSettingsError.self) { _ = try CanarySettings(settings("1s", "30s", 10)) }
        #expect(
            error?.problems.map(\.description) == [
                "window: expected more canaries than are sent within timeout (30s), found 10; write window: 32"
            ])
        let fractional = #expect(throws: BotSettingsError.self) {
            _ = try CanarySettings(settings("1s", "9500ms", 10))
        }
        #expect(
            fractional?.problems.map(\.description) == [
                "window: expected more canaries than are sent within timeout (9500ms), found 10; write window: 11"
            ])
    }

    @Test func reportsInvalidSettings() {
        #expect(problems([:]).contains(""))
        #expect(problems(["role": "listener", "groups": [:]]).contains("role"))
        #expect(problems(["role": "mirror"]) == [""])
        #expect(problems(["role": "mirror", "senders": []]) == ["senders"])
        #expect(problems(["role": "mirror", "senders": [npub], "every": "5s"]) == ["every"])
        #expect(problems(["role": "sender", "groups": [:]]) == ["groups"])
        #expect(problems(ofGroup: ["peers": [:]]) == ["groups.main.peers"])
        #expect(problems(ofGroup: ["peers": ["b b": npub]]) == ["groups.main.peers.b b"])
        let peers: BotSettings = ["bob": npub]
        #expect(problems(ofGroup: ["peers": peers, "mirrors": ["eve"]]) == ["groups.main.mirrors"])
        #expect(problems(ofGroup: ["peers": peers, "chat": "abc"]) == ["groups.main.chat"])
        func check(_ check: [String: BotSettings]) -> [String] {
            problems(ofGroup: ["peers": peers, "checks": [.object(check)]])
        }
        let path = "groups.main.checks[0]"
        #expect(check(["send": "x"]) == [path])
        #expect(check(["send": "x", "answer": "y", "silence": "5s"]) == [path])
        #expect(check(["send": "x", "silence": "5m"]) == [path])
        #expect(check(["answer": "y"]) == [path])
        #expect(check(["send": "x", "from": "eve", "answer": "y"]) == ["\(path).from"])
        #expect(check(["send": "x", "silence": "5s", "within": "5s"]) == ["\(path).within"])
    }
}
