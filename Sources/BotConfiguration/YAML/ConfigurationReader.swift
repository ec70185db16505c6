import BotDispatch
import BotKit
import Yams

/// A value in the file and its location. The parsing methods return nil after reporting a problem.
struct ConfigurationValue {
    let node: Node
    let keyPath: String
    let problems: ConfigurationProblems

    func fail(expected: String, found: String? = nil, fix: String) {
        problems.add(node.mark, keyPath, expected: expected, found: found ?? shown, fix: fix)
    }

    /// The value for an error message: scalars quoted and shortened, never a secret.
    var shown: String {
        switch node {
        case .scalar(let scalar) where scalar.string.isEmpty && scalar.style == .plain: "nothing"
        case .scalar(let scalar): quoted(scalar.string)
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .alias: "an alias"
        }
    }

    func string(expected: String, fix: String) -> String? {
        guard case .scalar(let scalar) = node, !scalar.string.isEmpty else {
            fail(expected: expected, fix: fix)
            return nil
        }
        return scalar.string
    }

    func parsed<Value>(_ parse: (String) -> Value?, expected: String, fix: String) -> Value? {
        guard case .scalar(let scalar) = node, let value = parse(scalar.string) else {
            fail(expected: expected, fix: fix)
            return nil
        }
        return value
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        of type: Choice.Type
    ) -> Choice? where Choice.RawValue == String {
        let names = Choice.allCases.map(\.rawValue)
        guard case .scalar(let scalar) = node, let choice = Choice(rawValue: scalar.string) else {
            let nearest = node.scalar.flatMap { nearestName(to: $0.string, in: names) }
            fail(expected: oneOf(names), fix: nearest.map { "write \($0)" } ?? "write one of them")
            return nil
        }
        return choice
    }

    /// Parses one of many names; the error suggests only the nearest.
    func word(
        in names: [String], expected: String, fix: String, advice: (String) -> String = { "write \($0)" }
    ) -> String? {
        guard case .scalar(let scalar) = node, names.contains(scalar.string) else {
            let nearest = node.scalar.flatMap { nearestName(to: $0.string, in: names) }
            fail(expected: expected, fix: nearest.map(advice) ?? fix)
            return nil
        }
        return scalar.string
    }

    func integer(in range: ClosedRange<Int>) -> Int? {
        parsed(
            { Int($0).flatMap { range.contains($0) ? $0 : nil } },
            expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            fix: "write a number in this range")
    }

    func duration(upTo limit: Duration? = nil) -> Duration? {
        do throws(DurationFault) {
            guard case .scalar(let scalar) = node else { throw DurationFault.malformed }
            return try Duration(settingText: scalar.string, upTo: limit)
        } catch {
            fail(expected: error.expected, fix: error.fix)
            return nil
        }
    }

    /// Parses a duration of at least an hour; `word` is `never`.
    func longDuration(or word: String, example: String) -> Setting<Duration>? {
        do throws(DurationFault) {
            guard case .scalar(let scalar) = node else { throw DurationFault.malformed }
            if scalar.string == word { return .never }
            return .value(try Duration(settingText: scalar.string, from: .seconds(3600)))
        } catch {
            fail(expected: "\(error.expected), or \(word)", fix: "write for example \(example)")
            return nil
        }
    }

    /// Parses a rate; `unlimited` is `never`.
    func rate() -> Setting<Rate>? {
        parsed(
            { $0 == "unlimited" ? .never : Rate(configurationText: $0).map { .value($0) } },
            expected: "a rate or unlimited", fix: "write N/s, N/min or N/h, such as 6/min")
    }

    /// - Parameter some: The content that an empty list lacks, such as `at least one relay`; nil if it may be empty.
    func list(of what: String, atLeast some: String? = nil, fix: String) -> [ConfigurationValue]? {
        guard case .sequence(let sequence) = node else {
            fail(expected: "a list of \(what)", fix: fix)
            return nil
        }
        if let some, sequence.isEmpty {
            fail(expected: some, found: "an empty list", fix: fix)
            return nil
        }
        return sequence.enumerated().map {
            ConfigurationValue(node: $0.element, keyPath: "\(keyPath)[\($0.offset)]", problems: problems)
        }
    }

    /// Returns the fields of a mapping; keys that are not in the schema are problems.
    func fields(_ schema: SchemaMapping) -> ConfigurationFields? {
        let keys = schema.names
        guard case .mapping(let mapping) = node else {
            fail(
                expected: "a mapping with \(oneOf(keys))",
                fix: "write it as { \(keys[0]): … } or remove it")
            return nil
        }
        for (key, _) in mapping where !keys.contains(key.string ?? "") {
            let place = ConfigurationValue(node: key, keyPath: keyPath, problems: problems)
            let nearest = key.scalar.flatMap { nearestName(to: $0.string, in: keys) }
            place.fail(
                expected: oneOf(keys), found: "the unknown key \(place.shown)",
                fix: nearest.map { "write \($0)" } ?? "remove it")
        }
        return ConfigurationFields(owner: self, schema: schema, mapping: mapping)
    }

    /// Returns the members of a mapping with user-defined keys: each key and its value.
    func members(of what: String, fix: String) -> [(name: ConfigurationValue, value: ConfigurationValue)]? {
        guard case .mapping(let mapping) = node else {
            fail(expected: "a mapping of \(what)", fix: fix)
            return nil
        }
        return mapping.map { key, value in
            let name = ConfigurationValue(node: key, keyPath: keyPath, problems: problems)
            let path = "\(keyPath).\(key.string ?? "")"
            return (name, ConfigurationValue(node: value, keyPath: path, problems: problems))
        }
    }
}

/// A value, or the word for none: `never`, `forever`, `all`, `unlimited`.
enum Setting<Value> {
    case never
    case value(Value)

    var value: Value? { if case .value(let value) = self { value } else { nil } }
}

/// The fields of a mapping by key.
struct ConfigurationFields {
    let owner: ConfigurationValue
    let schema: SchemaMapping
    fileprivate let mapping: Node.Mapping

    func optional(_ key: String) -> ConfigurationValue? {
        assert(schema[key] != nil, "the schema has no key \(key) in \(schema.name)")
        guard let pair = mapping.first(where: { $0.key.string == key }) else { return nil }
        let path = owner.keyPath.isEmpty ? key : "\(owner.keyPath).\(key)"
        return ConfigurationValue(node: pair.value, keyPath: path, problems: owner.problems)
    }

    func required(_ key: String) -> ConfigurationValue? {
        if let value = optional(key) { return value }
        owner.fail(
            expected: "the key \(key)", found: "none", fix: "add \(key): \(schema[key]?.hint ?? "…")")
        return nil
    }

    var keys: [String] { mapping.compactMap(\.key.string) }
}

func oneOf(_ names: [String]) -> String {
    names.count == 1 ? names[0] : "one of \(names.joined(separator: ", "))"
}

/// Returns a text of the file in quotes, on one line and shortened; secret keys are redacted.
func quoted(_ text: String) -> String {
    let isHexKey = text.count == 64 && text.allSatisfy(\.isHexDigit)
    guard !containsSecretKey(text), !isHexKey else { return "a value that looks like a key (not shown)" }
    let line = text.prefix(60).map { $0.isNewline ? " " : String($0) }.joined()
    return "\"\(line)\(text.count > 60 ? "…" : "")\""
}
