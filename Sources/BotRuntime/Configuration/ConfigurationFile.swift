import Foundation

/// A configuration file that was read and found right, and where in it everything stands.
public struct ConfigurationFile: Sendable {
    public var configuration: Configuration
    /// What was read.
    public let text: String
    let file: String
    let places: [String: ConfigurationProblems.Place]
    /// Where each account stands in the file, also where `configuration` has been left with some of them.
    let positions: [String: Int]

    /// Reads a file. Every included bot is made once with its settings, so that it can judge them.
    ///
    /// - Parameter path: Paths in the file are relative to its folder.
    /// - Throws: ``ConfigurationError`` with everything that is wrong with its text.
    public init(path: String, registry: BotRegistry) throws(ConfigurationError) {
        try self.init(path: path, known: KnownBots(registry))
    }

    /// Reads the text of a file, as if it stood in the file at `path`.
    public init(text: String, path: String, registry: BotRegistry) throws(ConfigurationError) {
        try self.init(text, file: path, folder: Self.folder(of: path), known: KnownBots(registry))
    }

    private static func folder(of path: String) -> String {
        // Absolute, so that it is the same place to programs that work elsewhere.
        URL(fileURLWithPath: path).absoluteURL.deletingLastPathComponent().path
    }

    init(path: String, known: KnownBots) throws(ConfigurationError) {
        try self.init(try Self.text(of: path), file: path, folder: Self.folder(of: path), known: known)
    }

    /// The text of a file, within bounds.
    static func text(of path: String) throws(ConfigurationError) -> String {
        let limit = ConfigurationDocument.maximumBytes
        guard let handle = FileHandle(forReadingAtPath: path),
            let data = try? handle.read(upToCount: limit + 1) ?? Data()
        else {
            throw ConfigurationError(
                file: path, expected: "a file that can be read", found: "none",
                fix: "check the path and its permissions")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ConfigurationError(
                file: path, expected: "UTF-8 text", found: "other bytes", fix: "save the file as UTF-8")
        }
        return text
    }

    /// - Parameters:
    ///   - file: The name that errors carry.
    ///   - folder: What relative paths are relative to.
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
    /// One problem with the file as a whole.
    init(file: String, expected: String, found: String, fix: String) {
        self.init(problems: [
            Problem(file: file, line: 1, column: 1, keyPath: "", expected: expected, found: found, fix: fix)
        ])
    }
}
