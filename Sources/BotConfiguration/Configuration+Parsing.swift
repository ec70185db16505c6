import BotKit
import Foundation

extension Configuration {
    /// Reads and validates a file, except the settings of its bots.
    ///
    /// - Parameters:
    ///   - path: Paths in the file are relative to its folder.
    ///   - knownBots: The valid names for `use:`.
    /// - Throws: ``ConfigurationError`` with all problems.
    package static func load(
        path: String, knownBots: some Collection<String>
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationFile(path: path, known: KnownBots(names: knownBots)).configuration
    }

    /// Reads and validates a file, including the settings of its bots.
    package static func load(
        path: String, registry: BotRegistry
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationFile(path: path, registry: registry).configuration
    }

    /// Parses and validates the text of a file.
    ///
    /// - Parameters:
    ///   - file: The file name in errors.
    ///   - folder: The base of relative paths.
    package static func parse(
        _ text: String, file: String, folder: String, knownBots: some Collection<String>
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationFile(text, file: file, folder: folder, known: KnownBots(names: knownBots)).configuration
    }
}
