import BotDispatch
import BotKit
import Yams

/// Collects what is wrong while a file is read, so that all of it can be said at once.
final class ConfigurationProblems {
    let file: String
    private var problems: [ConfigurationError.Problem] = []
    /// Places whose text is a secret: one problem says so, and nothing else is said about them.
    private var secretPlaces: Set<[Int]> = []

    init(file: String) {
        self.file = file
    }

    func add(_ mark: Mark?, _ keyPath: String, expected: String, found: String, fix: String) {
        add(
            line: mark?.line ?? 1, column: mark?.column ?? 1, keyPath, expected: expected, found: found, fix: fix)
    }

    func add(line: Int, column: Int, _ keyPath: String, expected: String, found: String, fix: String) {
        guard !secretPlaces.contains([line, column]) else { return }
        problems.append(
            .init(
                file: file, line: line, column: column, keyPath: keyPath, expected: expected, found: found, fix: fix))
    }

    func addSecret(_ mark: Mark?, _ keyPath: String) {
        add(
            mark, keyPath, expected: "no secret in this file", found: "what looks like a secret key (not shown)",
            fix: "move it to a file of mode 0600, write key: { file: PATH }, and treat the key as known to others")
        secretPlaces.insert([mark?.line ?? 1, mark?.column ?? 1])
    }

    func throwIfAny() throws(ConfigurationError) {
        guard !problems.isEmpty else { return }
        let sorted = problems.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }
        throw ConfigurationError(problems: sorted.map(\.element))
    }
}

/// A value in the file together with where it is. Readers return nil after having noted a problem.
struct ConfigurationValue {
    let node: Node
    let keyPath: String
    let problems: ConfigurationProblems

    func fail(expected: String, found: String? = nil, fix: String) {
        problems.add(node.mark, keyPath, expected: expected, found: found ?? shown, fix: fix)
    }

    /// The value as an error may show it: scalars quoted and cut, secrets never.
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

    func integer(in range: ClosedRange<Int>) -> Int? {
        parsed(
            { Int($0).flatMap { range.contains($0) ? $0 : nil } },
            expected: "a whole number from \(range.lowerBound) to \(range.upperBound)", fix: "write such a number")
    }

    func duration() -> Duration? {
        parsed(
            { Duration(configurationText: $0).flatMap { $0 > .zero ? $0 : nil } }, expected: "a duration",
            fix: "write a number and one of ms, s, m, h, d, such as 10s")
    }

    func rate() -> Rate? {
        parsed(Rate.init(configurationText:), expected: "a rate", fix: "write N/s, N/min or N/h, such as 6/min")
    }

    func list(of what: String, fix: String) -> [ConfigurationValue]? {
        guard case .sequence(let sequence) = node else {
            fail(expected: "a list of \(what)", fix: fix)
            return nil
        }
        return sequence.enumerated().map {
            ConfigurationValue(node: $0.element, keyPath: "\(keyPath)[\($0.offset)]", problems: problems)
        }
    }

    /// The fields of a mapping; keys that are not in `keys` are problems.
    func fields(_ keys: [String]) -> ConfigurationFields? {
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
        return ConfigurationFields(owner: self, mapping: mapping)
    }
}

/// The fields of one mapping, by key.
struct ConfigurationFields {
    let owner: ConfigurationValue
    fileprivate let mapping: Node.Mapping

    func optional(_ key: String) -> ConfigurationValue? {
        guard let pair = mapping.first(where: { $0.key.string == key }) else { return nil }
        let path = owner.keyPath.isEmpty ? key : "\(owner.keyPath).\(key)"
        return ConfigurationValue(node: pair.value, keyPath: path, problems: owner.problems)
    }

    func required(_ key: String, example: String) -> ConfigurationValue? {
        if let value = optional(key) { return value }
        owner.fail(expected: "the key \(key)", found: "none", fix: "add \(key): \(example)")
        return nil
    }

    var keys: [String] { mapping.compactMap(\.key.string) }
}

func oneOf(_ names: [String]) -> String {
    names.count == 1 ? names[0] : "one of \(names.joined(separator: ", "))"
}

/// A text of the file in quotes, on one line and not too long; a secret key is not shown.
func quoted(_ text: String) -> String {
    let isHexKey = text.count == 64 && text.allSatisfy(\.isHexDigit)
    guard !containsSecretKey(text), !isHexKey else { return "what looks like a key (not shown)" }
    let line = text.prefix(60).map { $0.isNewline ? " " : String($0) }.joined()
    return "\"\(line)\(text.count > 60 ? "…" : "")\""
}
