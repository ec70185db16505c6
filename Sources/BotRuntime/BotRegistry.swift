package import BotKit

/// The bots that a configuration may name with `use:`.
package struct BotRegistry: Sendable {
    private var types: [String: any Bot.Type] = [:]

    package init(_ types: any Bot.Type...) {
        for type in types { register(type) }
    }

    /// Registers a bot. Traps on a duplicate name, which is a programming error.
    package mutating func register(_ type: any Bot.Type) {
        precondition(types[type.name] == nil, "duplicate bot name \(type.name): rename one of the bots")
        types[type.name] = type
    }

    /// The registered names, sorted.
    package var names: [String] { types.keys.sorted() }

    /// Creates a bot. Throws ``WorkerError/Code/unknownBot``, and ``WorkerError/Code/badSettings`` if the bot rejects
    /// its settings.
    package func makeBot(_ name: String, settings: BotSettings) throws(WorkerError) -> any Bot {
        guard let type = types[name] else {
            throw WorkerError(.unknownBot, "unknown bot \(name); known bots: \(names.joined(separator: ", "))")
        }
        do {
            return try type.init(settings: settings)
        } catch {
            throw WorkerError(.badSettings, "bot \(name) rejects its settings", cause: error)
        }
    }
}
