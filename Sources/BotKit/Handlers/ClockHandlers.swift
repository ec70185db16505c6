/// Runs on a schedule: at a fixed interval or by a cron expression.
///
/// ```swift
/// OnSchedule("standup", .cron("0 9 * * mon-fri", timeZone: "Europe/Berlin")) { context in
///     context.send("Good morning! What is next?", to: team)
/// }
/// ```
///
/// A schedule has no chat, so the handler must name the chats that it sends to. Runs of one schedule never overlap: a
/// run that becomes due during another is skipped. No run happens twice, even after a crash.
public struct OnSchedule: HandlerDeclaration {
    /// The handler for the schedule's runs.
    public let handler: Handler

    /// Creates a handler for a schedule.
    ///
    /// - Parameters:
    ///   - name: identifies the schedule within the bot and across restarts; a new name is a new schedule.
    ///   - schedule: the times of the runs.
    ///   - catchesUp: whether it runs once at the start if runs were missed while the process was not running. A new
    ///     schedule has missed none.
    ///   - body: handles a run.
    public init(
        _ name: String, _ schedule: Schedule, catchesUp: Bool = false,
        perform body: @escaping @Sendable (BotContext) async throws -> Void
    ) {
        var handler = Handler(
            label: "schedule \(name)",
            onTrigger: { trigger, _ in
                guard case .schedule(let run) = trigger, run.name == name else { return nil }
                return { try await body($0) }
            })
        handler.schedule = ScheduleDeclaration(name: name, schedule: schedule, catchesUp: catchesUp)
        self.handler = handler
    }
}

/// Runs when a timer expires that a handler has set with ``BotContext/setTimer(_:key:after:text:in:)``.
///
/// ```swift
/// OnCommand("remind", arguments: [.duration("after"), .rest("text")]) { command, context in
///     guard let after = command.duration("after"), let text = command.string("text") else { return }
///     context.setTimer("reminder", key: command.message.id.hex, after: after, text: text)
/// }
/// OnTimer("reminder") { run, context in
///     context.send("Reminder: \(run.text)")
/// }
/// ```
public struct OnTimer: HandlerDeclaration {
    /// The handler for the timer's runs.
    public let handler: Handler

    /// Creates a handler for expired timers with this name.
    public init(_ name: String, perform body: @escaping @Sendable (TimerRun, BotContext) async throws -> Void) {
        handler = Handler(
            label: "timer \(name)",
            onTrigger: { trigger, _ in
                guard case .timer(let run) = trigger, run.name == name else { return nil }
                return { try await body(run, $0) }
            })
    }
}

/// Runs when the bot starts, before it receives any event: at each start of the process, and when a new configuration
/// adds the bot.
public struct OnStart: HandlerDeclaration {
    /// The handler for the start.
    public let handler: Handler

    /// Creates a handler for the start; without an event, it must name the chats that it sends to.
    public init(perform body: @escaping @Sendable (BotContext) async throws -> Void) {
        handler = Handler(
            label: "start",
            onTrigger: { trigger, _ in
                guard trigger == .start else { return nil }
                return { try await body($0) }
            })
    }
}

/// Runs at an orderly stop of the bot, after the last event, with a deadline of a few seconds. It does not run if the
/// process is killed.
public struct OnStop: HandlerDeclaration {
    /// The handler for the stop.
    public let handler: Handler

    /// Creates a handler for the stop; without an event, it must name the chats that it sends to.
    public init(perform body: @escaping @Sendable (BotContext) async throws -> Void) {
        handler = Handler(
            label: "stop",
            onTrigger: { trigger, _ in
                guard trigger == .stop else { return nil }
                return { try await body($0) }
            })
    }
}
