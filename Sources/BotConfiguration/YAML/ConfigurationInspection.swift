import Yams

/// The first pass over a file, independent of its meaning: limits its size, records the location of each value, and
/// rejects secrets and variables.
struct ConfigurationInspection {
    private var budget = ConfigurationDocument.maximumValues

    /// Returns false if a limit is exceeded, which ends the pass.
    mutating func inspect(_ value: ConfigurationValue, key: Node?, depth: Int = 0) -> Bool {
        budget -= 1
        guard budget >= 0, depth <= ConfigurationDocument.maximumDepth else {
            let limit =
                budget < 0
                ? "\(ConfigurationDocument.maximumValues) values with aliases expanded"
                : "\(ConfigurationDocument.maximumDepth) levels"
            value.fail(expected: "at most \(limit)", found: "more", fix: "simplify the file")
            return false
        }
        value.problems.note(value.keyPath, at: value.node.mark, key: key?.mark)
        switch value.node {
        case .scalar(let scalar):
            check(scalar, value, key)
            return true
        case .sequence(let sequence):
            for (index, item) in sequence.enumerated() {
                guard inspect(child(of: value, item, "[\(index)]"), key: key, depth: depth + 1) else { return false }
            }
            return true
        case .mapping(let mapping):
            return inspect(mapping, value, depth)
        case .alias:
            return true
        }
    }

    private mutating func inspect(_ mapping: Node.Mapping, _ value: ConfigurationValue, _ depth: Int) -> Bool {
        var names: Set<String> = []
        for (key, item) in mapping {
            let place = child(of: value, key, "")
            // The parser does not regard keys that differ only in quotes or tag as duplicates.
            if let name = key.string, !names.insert(name).inserted {
                place.fail(expected: "each key once in a mapping", fix: "remove one of them")
            }
            if key.scalar?.style == .plain, key.string == "<<" {
                value.problems.addOnly(
                    key.mark, value.keyPath, expected: "explicit keys", found: "a merge key",
                    fix: "repeat the keys; only whole values can be reused with & and *")
            }
            budget -= 1
            if let scalar = key.scalar { check(scalar, place, nil) }
            guard key.scalar != nil || inspect(place, key: nil, depth: depth + 1) else { return false }
            let inner = child(of: value, item, Self.pathComponent(key, after: value))
            guard inspect(inner, key: key, depth: depth + 1) else { return false }
        }
        return true
    }

    private func child(of value: ConfigurationValue, _ node: Node, _ suffix: String) -> ConfigurationValue {
        ConfigurationValue(node: node, keyPath: value.keyPath + suffix, problems: value.problems)
    }

    /// - Parameter key: The key of the value, or of the list that contains it.
    private func check(_ scalar: Node.Scalar, _ value: ConfigurationValue, _ key: Node?) {
        if containsSecretKey(scalar.string) {
            value.problems.addOnly(
                scalar.mark, value.keyPath, expected: "no secret in this file",
                found: "a likely secret key (not shown)",
                fix: "move it to a file of mode 0600, write key: { file: PATH }, and treat the key as compromised")
        } else if SecretNames.isSecret(scalar, under: key?.string) {
            value.problems.addOnly(
                scalar.mark, value.keyPath, expected: "a reference to a secret", found: "a value (not shown)",
                fix: "write { file: PATH }, { env: NAME }, { credential: NAME } or { command: [PROGRAM] } in its place")
        } else if SecretNames.isOption(scalar.string) {
            value.problems.addOnly(
                scalar.mark, value.keyPath, expected: "no secret among the arguments, which all users can see",
                found: "an option with a secret (not shown)",
                fix: "pass it in a file or environment variable, such as environment: { TOKEN: { file: PATH } }")
        } else if SecretNames.hasPassword(scalar.string) {
            value.problems.addOnly(
                scalar.mark, value.keyPath, expected: "a URL without user name and password",
                found: "a URL with them (not shown)",
                fix:
                    "remove them from the URL; keys for secrets take a reference such as token: { file: PATH }"
            )
        } else if let variable = Self.variable(in: scalar.string) {
            value.problems.addOnly(
                scalar.mark, value.keyPath, expected: "a literal value: variables are not expanded",
                found: quoted(variable),
                fix: "write the value, or for a secret { env: NAME } or { file: PATH }")
        } else if scalar.string.contains("\0") {
            value.problems.addOnly(
                scalar.mark, value.keyPath, expected: "a string without NUL characters", found: "a string with one",
                fix: "remove the character")
        }
    }

    /// Returns the first `${…}` of a text.
    private static func variable(in text: String) -> String? {
        guard let start = text.firstRange(of: "${"), let end = text[start.upperBound...].firstIndex(of: "}") else {
            return nil
        }
        return String(text[start.lowerBound...end])
    }

    private static func pathComponent(_ key: Node, after value: ConfigurationValue) -> String {
        guard let name = key.string, !containsSecretKey(name) else { return "" }
        let isPlain = name.count <= 40 && !name.contains { $0.isNewline || $0 == "." }
        return (value.keyPath.isEmpty ? "" : ".") + (isPlain ? name : quoted(name))
    }
}
