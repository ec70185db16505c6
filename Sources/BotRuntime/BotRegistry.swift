public import BotKit

/// The bots that a configuration may name with `use:`.
public struct BotRegistry: Sendable {
    private var types: [String: any Bot.Type] = [:]

    public init(_ types: any Bot.Type...) {
        for type in types { register(type) }
    }

    /// Two bots of one name are a mistake in the program, which ends.
    public mutating func register(_ type: any Bot.Type) {
        precondition(types[type.name] == nil, "two bots are named \(type.name): rename one of them")
        types[type.name] = type
    }

    /// Sorted.
    public var names: [String] { types.keys.sorted() }

    /// Throws ``WorkerError/Code/unknownBot``, and ``WorkerError/Code/badSettings`` when the bot refuses its settings.
    public func makeBot(_ name: String, settings: BotSettings) throws(WorkerError) -> any Bot {
        guard let type = types[name] else {
            throw WorkerError(.unknownBot, "no bot is named \(name); there are \(names.joined(separator: ", "))")
        }
        do {
            return try type.init(settings: settings)
        } catch {
            throw WorkerError(.badSettings, "bot \(name) refuses its settings", cause: error)
        }
    }
}
