/// All problems of a bot's settings under `with:`.
///
/// The runtime reports them with file, line and column of each path, before anything starts.
public struct BotSettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A problem of one value.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The location relative to `with:`, such as `rules[0].when.command`; empty for the whole object.
        public var path: String
        /// The expected value, such as `a whole number from 1 to 10`.
        public var expected: String
        /// The value found, in a form that is safe to show, such as `"ten"`, `a list` or `none`.
        public var found: String
        /// How to fix it, such as `write such a number`.
        public var fix: String

        /// Creates a problem; ``SettingsReader/fail(_:expected:found:fix:)`` is the usual way.
        public init(path: String, expected: String, found: String, fix: String) {
            self.path = path
            self.expected = expected
            self.found = found
            self.fix = fix
        }

        /// The problem in one line, such as `every: expected a duration, found "ten"; write …`.
        public var description: String {
            "\(path.isEmpty ? "with" : path): expected \(expected), found \(found); \(fix)"
        }
    }

    /// In the order in which they were found; at least one.
    public let problems: [Problem]

    /// Creates an error from at least one problem.
    public init(problems: [Problem]) {
        self.problems = problems
    }

    /// The problems, one in each line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
