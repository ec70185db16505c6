/// All problems of a configuration file, in the order of the file.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One problem: its location, what was expected, what was found, and how to fix it.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        package var file: String
        /// The line number, from 1.
        package var line: Int
        /// Starts at 1, in Unicode scalars.
        package var column: Int
        /// The path, such as `accounts[0].invites.accept`; empty for the file as a whole.
        package var keyPath: String
        package var expected: String
        /// The value found, never a secret.
        package var found: String
        package var fix: String

        package var description: String {
            let place = keyPath.isEmpty ? "" : "\(keyPath): "
            return "\(file):\(line):\(column): \(place)expected \(expected), found \(found); \(fix)"
        }
    }

    /// The problems in the order of the file; never empty.
    package let problems: [Problem]

    init(problems: [Problem]) {
        let sorted = problems.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }
        self.problems = sorted.map(\.element)
    }

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
