package import Nostr

/// Identifies one action that a handler or a client requested. It is the same when the handler runs again after a crash.
public struct ActionID: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The bot's name, the id of its trigger and the action's number within the handler, separated by slashes. For a
    /// client's command, the client's name and an id of the command.
    public let rawValue: String

    /// Creates an id from its text, such as one that a bot has stored.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The id as text.
    public var description: String { self.rawValue }

    /// The name of the bot or client that requested the action, and receives its outcome.
    package var bot: String { self.rawValue.split(separator: "/", maxSplits: 1).first.map(String.init) ?? "" }

    /// The event or item of a feed that the handler ran for; nil if it ran for a schedule, a timer or the like, and for a
    /// client's command.
    package var trigger: EventID? {
        let parts = self.rawValue.split(separator: "/")
        return parts.count > 1 ? try? EventID(hex: String(parts[1].prefix(64))) : nil
    }
}

extension RequestID {
    private static let actionPrefix = "action/"

    /// Returns the request of a handler's action. It is stored with the action, which may end after a restart.
    static func action(_ id: ActionID) -> RequestID { RequestID(rawValue: self.actionPrefix + id.rawValue) }

    private static let commandPrefix = "command/"

    /// Returns the request of a client's action, which has a reply besides its outcome. It is stored with the action.
    package static func command(_ id: ActionID) -> RequestID {
        RequestID(rawValue: self.commandPrefix + id.rawValue)
    }

    /// The client's action; nil for other requests.
    var command: ActionID? {
        guard self.rawValue.hasPrefix(Self.commandPrefix) else { return nil }
        return ActionID(rawValue: String(self.rawValue.dropFirst(Self.commandPrefix.count)))
    }

    /// The handler's action; nil for other requests.
    var action: ActionID? {
        guard self.rawValue.hasPrefix(Self.actionPrefix) else { return nil }
        return ActionID(rawValue: String(self.rawValue.dropFirst(Self.actionPrefix.count)))
    }

    /// The stored form, a field of another object; nil for a request that ends with the process.
    var stored: (name: String, value: JSONValue)? {
        if let key = self.onceKey { return ("once", .string(key)) }
        if let id = self.command { return ("command", .string(id.rawValue)) }
        return self.action.map { ("action", .string($0.rawValue)) }
    }

    /// Reads the stored form from the object that contains it; nil if it has none.
    init?(stored: JSONValue) {
        if let key = stored["once"]?.string {
            self = .once(key)
        } else if let id = stored["action"]?.string {
            self = .action(ActionID(rawValue: id))
        } else if let id = stored["command"]?.string {
            self = .command(ActionID(rawValue: id))
        } else {
            return nil
        }
    }
}
