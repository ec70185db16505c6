/// All problems of a configuration file, in the order of the file.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One problem: its location, what was expected, what was found, and how to fix it.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        public var file: String
        /// Starts at 1.
        public var line: Int
        /// Starts at 1, in Unicode scalars.
        public var column: Int
        /// The path, such as `accounts[0].invites.accept`; empty for the file as a whole.
        public var keyPath: String
        public var expected: String
        /// The value found, never a secret.
        public var found: String
        public var fix: String

        public var description: String {
            let place = keyPath.isEmpty ? "" : "\(keyPath): "
            return "\(file):\(line):\(column): \(place)expected \(expected), found \(found); \(fix)"
        }
    }

    /// In the order of the file; never empty.
    public let problems: [Problem]

    init(problems: [Problem]) {
        let sorted = problems.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }
        self.problems = sorted.map(\.element)
    }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
