import BotKit
import Yams

extension ConfigurationValue {
    /// The tree of plain values; keys that are not scalars are problems.
    var settings: BotSettings {
        func child(_ node: Node, _ suffix: String) -> BotSettings {
            ConfigurationValue(node: node, keyPath: keyPath + suffix, problems: problems).settings
        }
        switch node {
        case .scalar(let scalar):
            return scalar.style == .plain ? BotSettings(plainScalar: scalar.string) : .string(scalar.string)
        case .sequence(let sequence):
            return .array(sequence.enumerated().map { child($0.element, "[\($0.offset)]") })
        case .mapping(let mapping):
            var members: [String: BotSettings] = [:]
            for (key, item) in mapping {
                guard let name = key.string else {
                    ConfigurationValue(node: key, keyPath: keyPath, problems: problems)
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
    /// Parses an unquoted scalar by the core schema of YAML 1.2: `yes` and `0x10` are strings.
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
