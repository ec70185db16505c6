import BotDispatch
import BotKit
import Yams

extension ConfigurationParser {
    func bots(_ value: ConfigurationValue) -> [BotConfiguration]? {
        guard var bots = value.list(of: "bots", fix: "write bots: and below it - use: …")?.compactMap(bot) else {
            return nil
        }
        // The second bot of a name has a number behind it.
        var places: [String: Int] = [:]
        for index in bots.indices {
            let place = places[bots[index].name, default: 0] + 1
            places[bots[index].name] = place
            if place > 1 { bots[index].name += "#\(place)" }
        }
        return bots
    }

    private func bot(_ value: ConfigurationValue) -> BotConfiguration? {
        guard let fields = value.fields(["use", "groups", "limits", "with"]) else { return nil }
        let use = fields.required("use", example: knownBots.first ?? "NAME").flatMap(botName)
        var policy = BotPolicy()
        if let groups = fields.optional("groups")?.fields(["default"]) {
            policy.groups.standard =
                groups.optional("default")?.choice(of: GroupPolicy.Scope.self) ?? policy.groups.standard
        }
        if let limits = fields.optional("limits")?.fields(["perSender", "perGroup", "botPair"]) {
            policy.limits.perSender = limits.optional("perSender")?.rate()
            policy.limits.perGroup = limits.optional("perGroup")?.rate()
            policy.limits.botPair = limits.optional("botPair")?.integer(in: 0...1000) ?? policy.limits.botPair
        }
        var settings = BotSettings.object([:])
        if let with = fields.optional("with") {
            if with.node.mapping == nil {
                with.fail(expected: "a mapping", fix: "write with: { key: value } or remove it")
            }
            settings = self.settings(with)
        }
        return use.map { BotConfiguration(name: $0, source: .included($0, settings), policy: policy) }
    }

    private func botName(_ value: ConfigurationValue) -> String? {
        value.parsed(
            { knownBots.contains($0) ? $0 : nil },
            expected: knownBots.isEmpty ? "a registered bot, of which there are none" : "a bot: \(oneOf(knownBots))",
            fix: value.node.scalar.flatMap { nearestName(to: $0.string, in: knownBots) }.map { "write use: \($0)" }
                ?? "use a bot that this program has")
    }

    private func settings(_ value: ConfigurationValue) -> BotSettings {
        func child(_ node: Node, _ suffix: String) -> BotSettings {
            settings(ConfigurationValue(node: node, keyPath: value.keyPath + suffix, problems: value.problems))
        }
        switch value.node {
        case .scalar(let scalar):
            return scalar.style == .plain ? BotSettings(plainScalar: scalar.string) : .string(scalar.string)
        case .sequence(let sequence):
            return .array(sequence.enumerated().map { child($0.element, "[\($0.offset)]") })
        case .mapping(let mapping):
            var members: [String: BotSettings] = [:]
            for (key, item) in mapping {
                guard let name = key.string else {
                    ConfigurationValue(node: key, keyPath: value.keyPath, problems: value.problems)
                        .fail(expected: "a word as key", fix: "write the key as a word")
                    continue
                }
                members[name] = child(item, ".\(name)")
            }
            return .object(members)
        case .alias:
            return .null
        }
    }
}

extension BotSettings {
    /// A scalar without quotes, by the core schema of YAML 1.2: `yes` and `0x10` are texts.
    init(plainScalar text: String) {
        let numeric = Set("0123456789+-.eE")
        switch text {
        case "", "~", "null": self = .null
        case "true": self = .bool(true)
        case "false": self = .bool(false)
        default:
            let isNumber = text.allSatisfy(numeric.contains) && text.contains { $0.isNumber }
            if isNumber, let value = Int(text) {
                self = .int(value)
            } else if isNumber, let value = Double(text), value.isFinite {
                self = .double(value)
            } else {
                self = .string(text)
            }
        }
    }
}
