/// A handler of a bot: the triggers that it accepts, and the code that runs for them.
///
/// Usually declared as an ``OnCommand``, ``OnMessage`` or the like; a custom one accepts any event:
///
/// ```swift
/// Handler(label: "rename") { event, scope in
///     guard case .commit(let commit) = event.content, commit.isRename, scope.isGroup else { return nil }
///     return { context in context.send("Nice name!") }
/// }
/// ```
///
/// The handlers of a bot are tried in order, and only the first that accepts a trigger handles it. Triggers of one chat
/// are handled one at a time, different chats concurrently.
///
/// **When a handler throws**, or exceeds its deadline, ``Bot/errorHandlers`` are called, then the error is logged and
/// counted. The handler's effects are dropped, and the event counts as handled: it is not delivered again. A handler
/// that exceeds its deadline is cancelled. If it ignores the cancellation it is abandoned: its chat continues without
/// it, and effects that it requests later are dropped. Once 16 of a bot's handlers hang like this, new triggers of the
/// bot wait until one of them ends.
///
/// **When the process dies** before the event is handled, the handler runs again after the restart. Its effects then
/// have the same ids, so nothing happens twice. After three such deaths the event is abandoned.
public struct Handler: Sendable {
    /// The code that runs for an accepted trigger.
    public typealias Work = @Sendable (BotContext) async throws -> Void

    /// A short name for logs and metrics, the same for all events, such as `command ping`.
    public let label: String
    /// Returns the work for a trigger; nil if the handler does not accept it. Must be fast and free of side effects.
    package let accept: @Sendable (BotTrigger, EventScope) -> Work?
    /// The schedule, if the handler runs on one.
    package var schedule: ScheduleDeclaration?
    /// The name of the handler's conversation, if it has one.
    package var conversation: String?
    /// The usage of the handled command, if it is declared.
    package var command: CommandUsage?
    /// The probe module that the handler answers.
    package var probe: String?
    /// Whether the bot's limits do not apply to what the handler accepts.
    package var isUrgent = false
    /// Whether the handler accepts outcomes of actions.
    package var handlesOutcomes = false

    /// Creates a custom handler for events.
    ///
    /// - Parameters:
    ///   - label: a short name for logs and metrics, the same for all events.
    ///   - accept: returns the work for an event; nil if the handler does not accept it. Must be fast and free of side
    ///     effects.
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

/// An element of ``Bot/handlers``.
public protocol HandlerDeclaration {
    /// The declared handler.
    var handler: Handler { get }
}

extension Handler: HandlerDeclaration {
    /// The handler itself.
    public var handler: Handler { self }
}
