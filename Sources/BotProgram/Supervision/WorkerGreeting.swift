import BotConfiguration
import Foundation
import Nostr

/// The first line of a worker's standard input: the configuration that its supervisor has validated.
///
/// So a worker that is restarted while the file is invalid runs with the last valid configuration.
struct WorkerGreeting {
    /// The text of the file.
    let configuration: String
    /// The state directory, fixed while the supervisor runs, whatever the text says.
    let stateDirectory: String

    init(_ file: ConfigurationFile, stateDirectory: String) {
        configuration = file.text
        self.stateDirectory = stateDirectory
    }

    init(_ value: JSONValue) throws {
        guard let configuration = value["configuration"]?.string, let directory = value["stateDirectory"]?.string else {
            throw CommandError("standard input: expected a configuration on the first line")
        }
        self.configuration = configuration
        stateDirectory = directory
    }

    /// Reads exactly one line and no byte more, since questions follow.
    static func read(from descriptor: Int32 = STDIN_FILENO) throws -> WorkerGreeting {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < longestLine {
            let count = Foundation.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw CommandError("standard input: closed before the configuration") }
            guard byte != UInt8(ascii: "\n") else { return try WorkerGreeting(JSONValue(json: line)) }
            line.append(byte)
        }
        throw CommandError("standard input: the configuration is too long")
    }

    /// The limit in bytes: a configuration has at most 1 MiB before its characters are escaped.
    private static let longestLine = 8 << 20

    var line: String {
        let object: JSONObject = ["configuration": .string(configuration), "stateDirectory": .string(stateDirectory)]
        return JSONValue.object(object).jsonText
    }

    func load(file: String, registry: BotRegistry) throws(ConfigurationError) -> ConfigurationFile {
        var loaded = try ConfigurationFile(text: configuration, path: file, registry: registry)
        loaded.configuration.stateDirectory = stateDirectory
        return loaded
    }
}
