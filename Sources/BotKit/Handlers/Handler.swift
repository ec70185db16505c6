/// One reaction of a bot: which events it takes, and what it does with them.
///
/// Handlers of one bot are asked in order, and the first that accepts an event handles it, alone. Events of one chat
/// are handled one after the other, events of different chats at the same time.
///
/// **When a handler throws**, or takes longer than it may, the error is logged and counted, nothing of what it asked
/// for happens, and the event is done with: it does not come again. **When the process dies** before the event is done
/// with, the handler runs again; what it asks for then has the same ids, so nothing happens twice.
public struct Handler: Sendable {
    public typealias Work = @Sendable (BotContext) async throws -> Void

    /// For logs and metrics: a few words, the same for all events, such as `command ping`.
    public let label: String
    /// What to do about an event; nil if it is not for this handler. Quick, without side effects.
    public let accept: @Sendable (CoreEvent, EventScope) -> Work?

    public init(label: String, accept: @escaping @Sendable (CoreEvent, EventScope) -> Work?) {
        self.label = label
        self.accept = accept
    }
}

/// Anything that can stand in a list of handlers.
public protocol HandlerDeclaration {
    var handler: Handler { get }
}

extension Handler: HandlerDeclaration {
    public var handler: Handler { self }
}
