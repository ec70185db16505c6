package import BotKit
import LoadReport
import Nostr
import PikaCore

extension LoadPlan {
    /// Maximum number of agents of one process.
    static let maximumAgents = 100_000
    static let maximumMessageBytes = 16_384

    /// Parses a plan. Throws ``BotKit/BotSettingsError`` with all errors.
    package init(settings: BotSettings) throws(BotSettingsError) {
        let root = SettingsReader(settings)
        _ = root.int("version", in: 1...1, required: true)
        var plan: LoadPlan?
        if let load = root.object("load", required: true) { plan = Self.read(load) }
        let thresholds = Self.thresholds(root)
        let report = Self.report(root)
        guard var plan = try root.finish(plan) as LoadPlan? else {
            preconditionFailure("finish returns a plan or throws")
        }
        plan.thresholds = thresholds
        plan.report = report
        self = plan
    }

    private static func read(_ reader: SettingsReader) -> LoadPlan? {
        let relays = reader.values("relays", of: "relay addresses", required: true) { value in
            value.stringValue.flatMap { try? RelayURL($0) }
        }
        if relays?.isEmpty == true {
            reader.fail("relays", expected: "at least one relay", found: "an empty list", fix: "write relays: [ws://…]")
        }
        let agents = reader.object("agents", required: true).flatMap { Self.agents($0) }
        let groups = reader.object("groups", required: true).flatMap { Self.groups($0, of: agents?.count) }
        var areStagesRead = true
        let stages = reader.list("stages") { reader in
            let stage = stage(reader, groups: groups)
            areStagesRead = areStagesRead && stage != nil
            return stage
        }
        var schedule = FaultSchedule(end: areStagesRead ? stages.reduce(.zero) { $0 + $1.length } : nil)
        let faults = reader.list("faults") { reader in
            let fault = fault(reader, relays: relays?.count)
            if let fault { schedule.add(fault, reader) }
            return fault
        }
        let seed = reader.int("seed", default: 1)
        let settle = reader.duration("settle", default: .seconds(20))
        guard let relays, let agents, let groups else { return nil }
        return LoadPlan(
            seed: UInt64(seed), relays: relays, agents: agents, groups: groups, stages: stages, faults: faults,
            settle: settle, thresholds: [], report: Report(directory: ".", formats: [.text]))
    }

    private static func agents(_ reader: SettingsReader) -> Agents? {
        let count = reader.int("count", in: 1...maximumAgents, required: true)
        let ramp = reader.double("rampPerSecond", in: 0.001...100_000)
        let state = reader.choice("state", default: StateKind.memory)
        return count.map { Agents(count: $0, rampPerSecond: ramp ?? 10, state: state) }
    }

    private static func groups(_ reader: SettingsReader, of agents: Int?) -> Groups? {
        let count = reader.int("count", in: 0...maximumAgents, required: true)
        let publishers = reader.int("publishers", in: 1...maximumAgents)
        let founding = reader.int("founding", in: 1...1000, default: 4)
        let groupProtocol = reader.choice("protocol", default: GroupProtocol.auto)
        let sizes = reader.object("sizes", required: true).flatMap { Self.sizes($0, agents: agents ?? maximumAgents) }
        guard let count, let sizes else { return nil }
        return Groups(
            count: count, sizes: sizes, publishers: publishers, founding: founding, groupProtocol: groupProtocol)
    }

    private static func sizes(_ reader: SettingsReader, agents: Int) -> Sizes? {
        guard reader.has("fixed") else {
            let isPower = reader.parsed("law", expected: "power", fix: "write law: power or fixed: N", required: true) {
                $0.stringValue == "power" ? true : nil
            }
            let most = reader.int("max", in: 2...max(2, agents), required: true)
            return isPower == nil ? nil : most.map { .power(max: $0) }
        }
        return reader.int("fixed", in: 2...max(2, agents)).map { .fixed($0) }
    }

    private static func stage(_ reader: SettingsReader, groups: Groups?) -> Stage? {
        let length = reader.duration("for", required: true)
        let users = reader.object("users").flatMap { reader -> Users? in
            let count = reader.int("count", in: 1...maximumAgents, required: true)
            let think = reader.duration("think", default: .seconds(1))
            return count.map { Users(count: $0, think: think) }
        }
        let storm = reader.object("storm").flatMap { reader -> Storm? in
            let every = reader.duration("every", required: true)
            let members = reader.int("members", in: 2...100, default: 2)
            return every.map { Storm(every: $0, members: members) }
        }
        let stage = length.map {
            Stage(
                length: $0, sendRate: rate("sendRate", reader), users: users, churn: rate("churn", reader),
                commitRate: rate("commitRate", reader), storm: storm,
                messageBytes: reader.int("messageBytes", in: 1...maximumMessageBytes, default: 64))
        }
        if groups?.count == 0, stage?.isBusy == true {
            reader.fail(
                nil, expected: "a stage without load, because there are no groups", fix: "increase groups.count")
        }
        return stage
    }

    private static func rate(_ key: String, _ reader: SettingsReader) -> PerSecond? {
        reader.parsed(key, expected: "a rate", fix: "write N/s, N/min or N/h, such as 20/s") { value in
            value.stringValue.flatMap(PerSecond.init(configurationText:))
        }
    }

    private static func fault(_ reader: SettingsReader, relays: Int?) -> Fault? {
        let at = reader.duration("at", required: true)
        let actions = ["down", "stall", "restartAgents"]
        let action = reader.parsed(
            "action", expected: "one of \(actions.joined(separator: ", "))", fix: "write one of them", required: true
        ) { value in value.stringValue.flatMap { actions.contains($0) ? $0 : nil } }
        guard action != "restartAgents" else {
            let share = reader.double("share", in: 0.001...1, required: true)
            guard let at, let share else { return nil }
            return Fault(at: at, action: .restartAgents(share: share))
        }
        guard let action else {
            // Without a valid action its parameters cannot be checked.
            for key in ["share", "relay", "for"] { _ = reader.value(key) }
            return nil
        }
        let relay = reader.int("relay", in: 0...max(0, (relays ?? 1) - 1), default: 0)
        guard let at, let length = reader.duration("for", required: true) else { return nil }
        return Fault(
            at: at,
            action: action == "down" ? .down(relay: relay, length: length) : .stall(relay: relay, length: length))
    }

    private static func thresholds(_ root: SettingsReader) -> [Threshold] {
        guard let reader = root.object("thresholds") else { return [] }
        return reader.keys.compactMap { key in reader.string(key).map { Threshold(name: key, condition: $0) } }
    }

    private static func report(_ root: SettingsReader) -> Report {
        guard let reader = root.object("report") else { return Report(directory: ".", formats: [.text]) }
        let directory = reader.string("dir", default: ".")
        let names = ReportFormat.allCases.map(\.rawValue)
        let formats = reader.values("formats", of: "formats (\(names.joined(separator: ", ")))") { value in
            value.stringValue.flatMap(ReportFormat.init(rawValue:))
        }
        return Report(directory: directory, formats: Set(formats ?? [.text]))
    }
}

extension LoadPlan.Stage {
    /// Whether the stage needs groups.
    var isBusy: Bool { sendRate != nil || users != nil || churn != nil || commitRate != nil || storm != nil }
}
