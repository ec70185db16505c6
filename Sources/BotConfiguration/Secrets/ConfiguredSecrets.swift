package import BotKit
import Dispatch

/// The secrets of bots' settings, referred to in the same ways as the keys of accounts.
package struct ConfiguredSecrets: BotSecrets {
    private let folder: String
    private let environment: [String: String]

    /// - Parameters:
    ///   - folder: The base of relative paths: the configuration's folder.
    ///   - environment: The environment for secrets in variables, and for commands.
    package init(folder: String, environment: [String: String]) {
        self.folder = folder
        self.environment = environment
    }

    /// Reads the secret on each call, so that a changed one is found. A command may take at most ten seconds.
    package func read(_ reference: BotSettings) async throws(BotError) -> String {
        guard let source = KeyReference(settings: reference, folder: folder) else {
            throw BotError(
                .noSecret, "a secret is { file: PATH }, { env: NAME }, { credential: NAME } or { command: […] }")
        }
        let environment = environment
        let result: Result<String, KeyLoadingError> = await withCheckedContinuation { continuation in
            // Files and commands block, which is not allowed on the threads of the concurrency pool.
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(KeyLoadingError) in try source.loadSecret(environment: environment) })
            }
        }
        do { return try result.get() } catch { throw BotError(.noSecret, error.message) }
    }
}

extension KeyReference {
    /// Parses a reference in the settings of a bot; nil for anything else.
    init?(settings: BotSettings, folder: String) {
        guard case .object(let members) = settings, members.count == 1, let (kind, value) = members.first else {
            return nil
        }
        func resolved(_ path: String) -> String { ConfigurationParser.resolve(path, in: folder) }
        switch (kind, value) {
        case ("file", .string(let path)): self = .file(resolved(path))
        case ("env", .string(let name)): self = .environment(name)
        case ("credential", .string(let name)) where !name.contains("/") && name != "..": self = .credential(name)
        case ("command", .array(let values)):
            var words = values.compactMap(\.wordValue)
            guard words.count == values.count, let program = words.first, !program.isEmpty else { return nil }
            if program.contains("/") { words[0] = resolved(program) }
            self = .command(words)
        default: return nil
        }
    }
}

extension BotSettings {
    /// The string, or a number as text.
    fileprivate var wordValue: String? {
        switch self {
        case .string(let text): text
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool(let truth): "\(truth)"
        case .null, .array, .object: nil
        }
    }
}
