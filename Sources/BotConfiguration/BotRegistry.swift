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

    /// The bot with this name; nil if absent.
    package subscript(name: String) -> (any Bot.Type)? { types[name] }
}
