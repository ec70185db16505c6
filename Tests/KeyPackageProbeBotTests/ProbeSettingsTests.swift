import BotKit
import ProbeReports
import Testing

@testable import KeyPackageProbeBot

@Suite struct ProbeSettingsTests {
    private let npub = "npub10000003zmk89narqpczy4ff6rnuht2wu05na7kpnh3mak7z2tqzsv8vwqk"

    private func problems(_ settings: BotSettings) -> [String] {
        do throws(BotSettingsError) {
            _ = try ProbeSettings(settings)
            return []
        } catch { return error.problems.map(\.path) }
    }

    @Test func acceptsDefaults() throws {
        let settings = try ProbeSettings(["targets": ["alice": .string(npub)]])
        #expect(settings.every == .seconds(300) && settings.stale == .seconds(30 * 86_400))
        #expect(settings.interval == .seconds(300) && settings.expectation == .any)
        #expect(settings.target(named: "alice") == settings.target(named: npub))
    }

    @Test func reportsInvalidSettings() {
        #expect(problems([:]) == [""])
        #expect(problems(["targets": [:]]) == ["targets"])
        #expect(problems(["targets": ["alice": "bob"]]) == ["targets.alice"])
        #expect(problems(["targets": ["a b": .string(npub)]]) == ["targets.a b"])
        #expect(problems(["targets": [npub: .string(npub)]]) == ["targets.\(npub)"])
        #expect(problems(["targets": ["a": .string(npub), "b": .string(npub)]]) == ["targets.b"])
        let good: BotSettings = ["alice": .string(npub)]
        #expect(problems(["targets": good, "relays": ["http://x"]]) == ["relays[0]"])
        #expect(problems(["targets": good, "every": "1s", "timeout": "1m"]) == ["every", "timeout"])
        #expect(problems(["targets": good, "protocol": "v3"]) == ["protocol"])
        #expect(problems(["targets": good, "other": 1]) == ["other"])
    }
}
