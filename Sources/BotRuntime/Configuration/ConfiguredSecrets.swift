public import BotKit
import Dispatch

/// Secrets that the settings of bots refer to, in the ways in which accounts refer to their keys.
public struct ConfiguredSecrets: BotSecrets {
    private let folder: String
    private let environment: [String: String]

    /// - Parameters:
    ///   - folder: What relative paths begin at: the configuration's folder.
    ///   - environment: Where secrets may be, and what commands get.
    public init(folder: String, environment: [String: String]) {
        self.folder = folder
        self.environment = environment
    }

    /// Reads the secret anew each time, so that a changed one is found. Takes as long as its command, at most ten seconds.
    public func read(_ reference: BotSettings) async throws(BotError) -> String {
        guard let source = KeyReference(settings: reference, folder: folder) else {
            throw BotError(
                .noSecret, "a secret is { file: PATH }, { env: NAME }, { credential: NAME } or { command: […] }")
        }
        let environment = environment
        let result: Result<String, KeyLoadingError> = await withCheckedContinuation { continuation in
            // Files and commands block, which the threads of the concurrency pool must not.
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(KeyLoadingError) in try source.loadSecret(environment: environment) })
            }
        }
        do { return try result.get() } catch { throw BotError(.noSecret, error.message) }
    }
}

extension KeyReference {
    /// A reference as it stands in the settings of a bot; nil for anything else.
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
    /// A text, or a number as it is written.
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
