import Foundation

/// A valid configuration file, and the location of each value.
package struct ConfigurationFile: Sendable {
    package var configuration: Configuration
    /// The text that was parsed.
    package let text: String
    let file: String
    let places: [String: ConfigurationProblems.Place]
    /// The index of each account in the file, including those that `configuration` was filtered to omit.
    let positions: [String: Int]

    /// Reads a file. Each included bot is created once, so that it can validate its settings.
    ///
    /// - Parameter path: Paths in the file are relative to its folder.
    /// - Throws: ``ConfigurationError`` with all problems of the text.
    package init(path: String, registry: BotRegistry) throws(ConfigurationError) {
        try self.init(path: path, known: KnownBots(registry))
    }

    /// Parses text as if it were the content of the file at `path`.
    package init(text: String, path: String, registry: BotRegistry) throws(ConfigurationError) {
        try self.init(text, file: path, folder: Self.folder(of: path), known: KnownBots(registry))
    }

    private static func folder(of path: String) -> String {
        // Absolute, so that it is valid for programs with another working directory.
        URL(fileURLWithPath: path).absoluteURL.deletingLastPathComponent().path
    }

    init(path: String, known: KnownBots) throws(ConfigurationError) {
        try self.init(try Self.text(of: path), file: path, folder: Self.folder(of: path), known: known)
    }

    /// Reads the text of a file, up to the maximum size.
    static func text(of path: String) throws(ConfigurationError) -> String {
        let limit = ConfigurationDocument.maximumBytes
        guard let handle = FileHandle(forReadingAtPath: path),
            let data = try? handle.read(upToCount: limit + 1) ?? Data()
        else {
            throw ConfigurationError(
                file: path, expected: "a readable file", found: "none",
                fix: "check the path and its permissions")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ConfigurationError(
                file: path, expected: "UTF-8 text", found: "other bytes", fix: "save the file as UTF-8")
        }
        return text
    }

    /// - Parameters:
    ///   - file: The file name in errors.
    ///   - folder: The base of relative paths.
    init(_ text: String, file: String, folder: String, known: KnownBots) throws(ConfigurationError) {
        let problems = ConfigurationProblems(file: file)
        let root = try ConfigurationDocument.read(text, problems)
        let configuration = ConfigurationParser(folder: folder, known: known).configuration(root)
        try problems.throwIfAny()
        guard let configuration else { preconditionFailure("a configuration was refused without a reason") }
        self.configuration = configuration
        self.text = text
        self.file = file
        places = problems.places
        positions = Dictionary(
            configuration.accounts.enumerated().map { ($0.element.name, $0.offset) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension ConfigurationError {
    /// Creates an error with one problem of the file as a whole.
    init(file: String, expected: String, found: String, fix: String) {
        self.init(problems: [
            Problem(file: file, line: 1, column: 1, keyPath: "", expected: expected, found: found, fix: fix)
        ])
    }
}
