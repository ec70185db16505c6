import BotConfiguration
import BotKit
import LoadReport
import Nostr
import Testing

@testable import Load

struct LoadPlanTests {
    private func read(_ text: String) throws -> LoadPlan {
        try SettingsFile.read(text, file: "plan.yaml") { (settings, _) throws(BotSettingsError) in
            try LoadPlan(settings: settings)
        }
    }

    @Test func parsesPlanOfTheManual() throws {
        let plan = try read(
            """
            version: 1
            load:
              seed: 7
              relays: [ws://127.0.0.1:7777]
              agents: { count: 60, rampPerSecond: 20 }
              groups: { count: 6, sizes: { fixed: 10 } }
              stages: [ { for: 15s, sendRate: 20/s }, { for: 30s, churn: 30/min } ]
              faults: [ { at: 20s, for: 5s, relay: 0, action: down }, { at: 40s, action: restartAgents, share: 0.1 } ]
            thresholds: { join.p95: "< 3s", deliver.p99: "< 2s", delivery: ">= 0.999", order: ">= 0.999", divergence: "== 0" }
            report: { dir: ./out, formats: [text, json, csv, junit, openmetrics, html] }
            """)
        #expect(plan.seed == 7)
        #expect(plan.relays.map(\.string) == ["ws://127.0.0.1:7777"])
        #expect(plan.agents == .init(count: 60, rampPerSecond: 20, state: .memory))
        #expect(
            plan.groups
                == .init(count: 6, sizes: .fixed(10), publishers: nil, founding: 4, groupProtocol: .auto))
        #expect(plan.stages.map(\.length) == [.seconds(15), .seconds(30)])
        #expect(plan.stages[0].sendRate == PerSecond(20))
        #expect(plan.stages[1].churn == PerSecond(0.5))
        #expect(
            plan.faults == [
                .init(at: .seconds(20), action: .down(relay: 0, length: .seconds(5))),
                .init(at: .seconds(40), action: .restartAgents(share: 0.1)),
            ])
        #expect(plan.thresholds.map(\.name) == ["deliver.p99", "delivery", "divergence", "join.p95", "order"])
        #expect(plan.report.formats == Set(ReportFormat.allCases))
        #expect(plan.report.directory == "./out")
    }

    private static let minimal = """
        version: 1
        load: { relays: [ws://r.example], agents: { count: 10 }, groups: { count: 2, sizes: { fixed: 3 } } }
        """

    @Test func appliesDefaults() throws {
        let plan = try read(Self.minimal)
        #expect(plan.stages.isEmpty && plan.faults.isEmpty && plan.thresholds.isEmpty)
        #expect(plan.report == .init(directory: ".", formats: [.text]))
        #expect(plan.settle == .seconds(20))
    }

    @Test func readsProtocolOfGroups() throws {
        func plan(_ word: String) throws -> LoadPlan {
            try read(Self.minimal.replacing("count: 2,", with: "count: 2, protocol: \(word),"))
        }
        #expect(try plan("v1").groups.groupProtocol == .v1)
        #expect(try plan("v2").groups.groupProtocol == .v2)
        #expect(throws: (any Error).self) { try plan("v3") }
    }

    @Test func refusesMoreAgentsThanFilesAllow() throws {
        let plan = try read(
            """
            version: 1
            load:
              relays: [ws://r.example]
              agents: { count: 100, state: disk }
              groups: { count: 1, sizes: { fixed: 2 } }
            """)
        try plan.checkOpenFiles(limit: 1_000)
        let error = #expect(throws: LoadError.self) { try plan.checkOpenFiles(limit: 999) }
        #expect(
            error?.message == "load.agents.count: 100 agents need about 1000 open files and connections, but this "
                + "process may open 999; use at most 99 agents, or raise the limit (ulimit -n)")
        #expect(OpenFiles.raiseLimit() >= 256)
    }

    @Test func powerLawSizesDecrease() throws {
        let plan = try read(Self.minimal.replacing("fixed: 3", with: "law: power, max: 9"))
        #expect((0..<6).map { plan.groups.size(of: $0) } == [9, 4, 3, 2, 2, 2])
    }

    @Test(arguments: [
        (
            "version: 1", "version: 2",
            #"plan.yaml:1:10: version: expected a whole number from 1 to 1, found "2"; write a number in this range"#
        ),
        (
            "count: 10", "cout: 10",
            #"plan.yaml:2:45: load.agents: expected one of count, rampPerSecond, state, found the unknown key "cout"; write count"#
        ),
        (
            "count: 10", "count: 0",
            #"plan.yaml:2:52: load.agents.count: expected a whole number from 1 to 100000, found "0"; write a number in this range"#
        ),
        (
            "[ws://r.example]", "[r.example]",
            #"plan.yaml:2:18: load.relays[0]: expected an element of a list of relay addresses, found "r.example"; write a list of relay addresses"#
        ),
        (
            "[ws://r.example]", "[]",
            #"plan.yaml:2:17: load.relays: expected at least one relay, found an empty list; write relays: [ws://…]"#
        ),
        (
            "fixed: 3", "fixed: 30",
            #"plan.yaml:2:94: load.groups.sizes.fixed: expected a whole number from 2 to 10, found "30"; write a number in this range"#
        ),
        (
            "fixed: 3", "law: gauss",
            #"plan.yaml:2:92: load.groups.sizes.law: expected power, found "gauss"; write law: power or fixed: N"#
        ),
        (
            "fixed: 3 } }", "fixed: 3 } }, stages: [ { for: 1s, sendRate: 20 } ]",
            #"plan.yaml:2:132: load.stages[0].sendRate: expected a rate, found "20"; write N/s, N/min or N/h, such as 20/s"#
        ),
        (
            "fixed: 3 } }", "fixed: 3 } }, stages: [ { sendRate: 2/s } ]",
            #"plan.yaml:2:111: load.stages[0]: expected the key for, found none; add for: …"#
        ),
        (
            "fixed: 3 } }", "fixed: 3 } }, faults: [ { at: 1s, action: burn } ]",
            #"plan.yaml:2:129: load.faults[0].action: expected one of down, stall, restartAgents, found "burn"; write one of them"#
        ),
        (
            "fixed: 3 } }", "fixed: 3 } }, faults: [ { at: 1s, for: 1s, action: down, relay: 1 } ]",
            #"plan.yaml:2:151: load.faults[0].relay: expected a whole number from 0 to 0, found "1"; write a number in this range"#
        ),
        (
            "fixed: 3 } }", "fixed: 3 } }, stages: [ { for: 9s } ], faults: [ { at: 8s, for: 2s, action: down } ]",
            #"plan.yaml:2:142: load.faults[0].at: expected a fault within the stages, which end at 9s, found "8s"; start it earlier, shorten it, or lengthen a stage"#
        ),
        (
            "fixed: 3 } }",
            "fixed: 3 } }, stages: [ { for: 9s } ], faults: [ { at: 9s, share: 1, action: restartAgents } ]",
            #"plan.yaml:2:142: load.faults[0].at: expected a fault within the stages, which end at 9s, found "9s"; start it earlier, shorten it, or lengthen a stage"#
        ),
        (
            "fixed: 3 } }", "fixed: 3 } }, faults: [ { at: 1s, share: 1, action: restartAgents } ]",
            #"plan.yaml:2:117: load.faults[0].at: expected a fault within the stages, which end at 0ms, found "1s"; start it earlier, shorten it, or lengthen a stage"#
        ),
        (
            "fixed: 3 } }",
            "fixed: 3 } }, stages: [ { for: 9s } ], faults: [ { at: 4s, for: 3s, action: stall }, { at: 2s, for: 3s, action: down } ]",
            #"plan.yaml:2:178: load.faults[1].at: expected a time without another fault of relay 0, found "2s"; start it when the other has ended"#
        ),
    ])
    func reportsErrorsWithTheirPlace(right: String, wrong: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(Self.minimal.replacing(right, with: wrong)) }
        #expect(
            error?.description.split(separator: "\n").contains { $0 == message } == true, "\(error?.description ?? "")")
    }

    @Test func allowsConsecutiveAndParallelFaults() throws {
        let plan = try read(
            Self.minimal.replacing("[ws://r.example]", with: "[ws://r.example, ws://s.example]").replacing(
                "fixed: 3 } }",
                with: """
                    fixed: 3 } }, stages: [ { for: 5s }, { for: 4s } ], faults: [ { at: 2s, for: 3s, action: down }, \
                    { at: 5s, for: 4s, action: stall }, { at: 3s, for: 6s, relay: 1, action: down } ]
                    """))
        #expect(plan.faults.count == 3)
        #expect(plan.loaded == .seconds(9))
    }

    @Test func skipsFaultTimesOfInvalidStages() {
        let wrong = Self.minimal.replacing(
            "fixed: 3 } }",
            with: "fixed: 3 } }, stages: [ { sendRate: 2/s } ], faults: [ { at: 1s, for: 1s, action: down } ]")
        let error = #expect(throws: ConfigurationError.self) { try read(wrong) }
        #expect(error?.problems.isEmpty == false)
        #expect(error?.problems.contains { $0.keyPath.hasPrefix("load.faults") } == false)
    }

    /// A flag may replace the relays of the file.
    @Test(arguments: [
        (
            ["ws://r.example"],
            #"load.faults[1].relay: expected the index of a relay, 0 to 0, found "1""#
        ),
        (["ws://r.example", "wss://s.example"], "load.faults[1].relay: expected a ws:// relay"),
    ])
    func checksFaultsAgainstReplacedRelays(relays: [String], message: String) throws {
        var plan = try read(
            Self.minimal.replacing("[ws://r.example]", with: "[ws://r.example, ws://s.example]").replacing(
                "fixed: 3 } }",
                with: """
                    fixed: 3 } }, stages: [ { for: 9s } ], faults: [ { at: 2s, action: restartAgents, share: 1 }, \
                    { at: 3s, for: 6s, relay: 1, action: down } ]
                    """))
        try plan.checkFaults()
        plan.relays = try relays.map { try RelayURL($0) }
        let error = #expect(throws: LoadError.self) { try plan.checkFaults() }
        #expect(error?.code == .badPlan)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }
}
