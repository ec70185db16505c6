/// Runs on a schedule: at a fixed interval, or as a cron expression says.
///
/// A schedule belongs to no chat, so the handler must name the chat that it sends to:
/// `context.send("good morning", to: chatID)`. Runs of one schedule never overlap: a run that becomes due during
/// another is skipped. No run happens twice, even after a crash.
public struct OnSchedule: HandlerDeclaration {
    public let handler: Handler

    /// - Parameters:
    ///   - name: identifies the schedule among those of the bot, also across restarts; a new name is a new schedule.
    ///   - catchesUp: whether it runs once at the start if runs were missed while the process was not running. A new
    ///     schedule has missed none.
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
public struct OnTimer: HandlerDeclaration {
    public let handler: Handler

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
    public let handler: Handler

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
    public let handler: Handler

    public init(perform body: @escaping @Sendable (BotContext) async throws -> Void) {
        handler = Handler(
            label: "stop",
            onTrigger: { trigger, _ in
                guard trigger == .stop else { return nil }
                return { try await body($0) }
            })
    }
}
