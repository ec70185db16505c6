/// A handler of a bot: the triggers that it accepts, and the code that runs for them.
///
/// The handlers of a bot are tried in order, and only the first that accepts a trigger handles it. Triggers of one chat
/// are handled one at a time, different chats concurrently.
///
/// **When a handler throws**, or exceeds its deadline, ``Bot/errorHandlers`` are called, then the error is logged and
/// counted. The handler's effects are dropped, and the event counts as handled: it is not delivered again. A handler
/// that exceeds its deadline is cancelled. If it ignores the cancellation it is abandoned: its chat continues without
/// it, and effects that it requests later are dropped. Once 16 of a bot's handlers hang like this, new triggers of the
/// bot wait until one of them ends. **When the process dies** before the event is handled, the handler runs again; its
/// effects then have the same ids, so nothing happens twice. After the third such death the event is given up.
public struct Handler: Sendable {
    public typealias Work = @Sendable (BotContext) async throws -> Void

    /// A short name for logs and metrics, the same for all events, such as `command ping`.
    public let label: String
    /// Returns the work for a trigger; nil if the handler does not accept it. Fast, without side effects.
    package let accept: @Sendable (BotTrigger, EventScope) -> Work?
    /// The schedule, if the handler runs on one.
    package var schedule: ScheduleDeclaration?
    /// The name of the handler's conversation, if it has one.
    package var conversation: String?
    /// The usage of the handled command, if it is declared.
    package var command: CommandUsage?
    /// The probe module that the handler answers.
    package var probe: String?

    /// Creates a custom handler for events.
    ///
    /// - Parameter accept: returns the work for an event; nil if the handler does not accept it. Fast, without side
    ///   effects.
    public init(label: String, accept: @escaping @Sendable (CoreEvent, EventScope) -> Work?) {
        self.init(label: label) { trigger, scope in trigger.event.flatMap { accept($0, scope) } }
    }

    package init(label: String, onTrigger accept: @escaping @Sendable (BotTrigger, EventScope) -> Work?) {
        self.label = label
        self.accept = accept
    }
}

/// A named schedule of a handler.
package struct ScheduleDeclaration: Sendable, Hashable {
    package let name: String
    package let schedule: Schedule
    package let catchesUp: Bool
}

/// An element of a list of handlers.
public protocol HandlerDeclaration {
    var handler: Handler { get }
}

extension Handler: HandlerDeclaration {
    public var handler: Handler { self }
}
