/// One reaction of a bot: what it runs for, and what it does then.
///
/// Handlers of one bot are asked in order, and the first that accepts a trigger handles it, alone. What belongs to one
/// chat is handled one after the other, different chats at the same time.
///
/// **When a handler throws**, or takes longer than it may, ``Bot/errorHandlers`` are asked, then the error is logged
/// and counted; nothing of what the handler asked for happens, and the event is done with: it does not come again.
/// A handler that takes too long is cancelled. One that does not heed that is left behind: its chat goes on without it,
/// and what it asks for later is dropped; once 16 of a bot's handlers hang like that, what comes for the bot waits until
/// one of them ends. **When the process dies** before the event is done with, the handler runs again; what it asks for
/// then has the same ids, so nothing happens twice. If the process dies of it once more, the event is given up.
public struct Handler: Sendable {
    public typealias Work = @Sendable (BotContext) async throws -> Void

    /// For logs and metrics: a few words, the same for all events, such as `command ping`.
    public let label: String
    /// What to do about a trigger; nil if it is not for this handler. Quick, without side effects.
    package let accept: @Sendable (BotTrigger, EventScope) -> Work?
    /// When to run it, if it waits for the clock.
    package var schedule: ScheduleDeclaration?
    /// The conversation that it has, if it has any.
    package var conversation: String?
    /// The command that it handles, if it says how it is used.
    package var command: CommandUsage?
    /// The module that it answers probes of.
    package var probe: String?

    /// A handler of one's own for events.
    ///
    /// - Parameter accept: what to do about an event; nil if it is not for this handler. Quick, without side effects.
    public init(label: String, accept: @escaping @Sendable (CoreEvent, EventScope) -> Work?) {
        self.init(label: label) { trigger, scope in trigger.event.flatMap { accept($0, scope) } }
    }

    package init(label: String, onTrigger accept: @escaping @Sendable (BotTrigger, EventScope) -> Work?) {
        self.label = label
        self.accept = accept
    }
}

/// A schedule and who waits for it.
package struct ScheduleDeclaration: Sendable, Hashable {
    package let name: String
    package let schedule: Schedule
    package let catchesUp: Bool
}

/// Anything that can stand in a list of handlers.
public protocol HandlerDeclaration {
    var handler: Handler { get }
}

extension Handler: HandlerDeclaration {
    public var handler: Handler { self }
}
