import BotKit
import Foundation

extension Configuration {
    /// Reads and checks a file, without asking bots about their settings.
    ///
    /// - Parameters:
    ///   - path: Paths in the file are relative to its folder.
    ///   - knownBots: Names that `use:` may have.
    /// - Throws: ``ConfigurationError`` with everything that is wrong.
    public static func load(
        path: String, knownBots: some Collection<String>
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationFile(path: path, known: KnownBots(names: knownBots)).configuration
    }

    /// Reads and checks a file, the settings of its bots included.
    public static func load(
        path: String, registry: BotRegistry
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationFile(path: path, registry: registry).configuration
    }

    /// Reads and checks the text of a file.
    ///
    /// - Parameters:
    ///   - file: The name that errors carry.
    ///   - folder: What relative paths are relative to.
    public static func parse(
        _ text: String, file: String, folder: String, knownBots: some Collection<String>
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationFile(text, file: file, folder: folder, known: KnownBots(names: knownBots)).configuration
    }
}
