import Yams

/// Parses text to a YAML tree within limits: size, number of values after expanding aliases, depth, and no secrets.
enum ConfigurationDocument {
    static let maximumBytes = 1 << 20
    static let maximumValues = 20_000
    static let maximumDepth = 32

    static func read(_ text: String, _ problems: ConfigurationProblems) throws(ConfigurationError) -> ConfigurationValue
    {
        guard text.utf8.count <= maximumBytes else {
            problems.add(
                nil, "", expected: "at most \(maximumBytes) bytes", found: "\(text.utf8.count)",
                fix: "move long values to separate files")
            throw problems.error
        }
        // Some editors write a byte order mark, which is not part of the first line.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        if let line = lineOfAliasInKey(text) {
            problems.add(
                line: line, column: 1, "", expected: "keys that are plain words",
                found: "an alias or a collection as a key", fix: "write the key as a word")
            throw problems.error
        }
        let node: Node?
        do {
            node = try Yams.compose(yaml: text, .default, .default, .utf8)
        } catch {
            note(error, in: text, problems)
            throw problems.error
        }
        guard let node else {
            problems.add(
                nil, "", expected: "a configuration", found: "an empty file", fix: "begin with version: 1")
            throw problems.error
        }
        let root = ConfigurationValue(node: node, keyPath: "", problems: problems)
        var inspection = ConfigurationInspection()
        guard inspection.inspect(root, key: nil) else { throw problems.error }
        return root
    }

    /// Reports the parser's message and location, without the excerpt of the file, which may contain a secret.
    private static func note(_ error: any Error, in text: String, _ problems: ConfigurationProblems) {
        switch error as? YamlError {
        case .parser(_, let problem, let mark, _) where problem.contains("nesting level"):
            problems.add(
                mark, "", expected: "at most \(maximumDepth) levels", found: "more", fix: "simplify the file")
        case .reader(let problem, let offset, _, let text):
            let before = text.utf8.prefix(offset ?? 0)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            problems.add(
                line: line, column: 1, "", expected: "valid YAML", found: "an error: \(problem)",
                fix: "remove the character")
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            problems.add(
                mark, "", expected: "valid YAML", found: "an error: \(problem)", fix: fix(at: mark.line, of: text))
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map(quoted).joined(separator: ", ")
            problems.add(
                context.mark, "", expected: "each key once in a mapping", found: "\(names) more than once",
                fix: "remove one of them")
        default:
            problems.add(
                nil, "", expected: "valid YAML", found: "invalid YAML", fix: fix(at: 1, of: text))
        }
    }

    /// Returns advice for a syntax error. An unquoted variable breaks a flow mapping, which the parser cannot diagnose.
    private static func fix(at line: Int, of text: String) -> String {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        guard lines.indices.contains(line - 1), lines[line - 1].contains("${") else {
            return "correct the YAML there; strings with special characters often need quotes"
        }
        return "write the value instead of ${…}: variables are not expanded"
    }

    /// Returns the line of an alias in a key. Yams hashes keys while composing, which takes exponential time for nested
    /// aliases, so such keys are rejected beforehand. Only files with both an anchor and an alias are checked, so that
    /// similar plain text passes.
    private static func lineOfAliasInKey(_ text: String) -> Int? {
        func begins(_ mark: Character, _ line: Substring) -> Bool {
            var previous: Character = " "
            for character in line {
                if character == mark, " \t[{,-:?".contains(previous) { return true }
                previous = character
            }
            return false
        }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        guard lines.contains(where: { begins("&", $0) }), lines.contains(where: { begins("*", $0) }) else { return nil }
        let suspicious = lines.firstIndex { line in
            let bare = line.filter { $0 != " " && $0 != "\t" }
            let isExplicitKey = begins("?", line)
            let isCollectionKey = bare.contains("]:") || bare.contains("}:")
            let isAliasKey = bare.split(separator: "*", omittingEmptySubsequences: false).dropFirst().contains { tail in
                tail.first { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "_" } == ":"
            }
            return isExplicitKey || isCollectionKey || (isAliasKey && begins("*", line))
        }
        return suspicious.map { $0 + 1 }
    }
}
