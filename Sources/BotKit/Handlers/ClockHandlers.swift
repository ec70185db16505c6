/// Runs at times of its own: every so often, or as a cron expression says.
///
/// A schedule belongs to no chat, so it names where it sends: `context.send("good morning", to: chatID)`. Runs of one
/// schedule never overlap: what becomes due while one is at work is left out. No run is done twice, also after a crash.
public struct OnSchedule: HandlerDeclaration {
    public let handler: Handler

    /// - Parameters:
    ///   - name: tells it from the bot's other schedules, also across restarts; a new name is a new schedule.
    ///   - catchesUp: whether it runs once, at the start, if runs were missed while nothing ran. A new schedule has
    ///     missed none.
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

/// Runs when a timer has run out that a handler set with ``BotContext/setTimer(_:key:after:text:in:)``.
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

/// Runs when the bot begins its work, before it gets any event: at each start of the process, and when a new
/// configuration brings the bot in.
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

/// Runs when the bot ends its work in good order, after the last event; it has a few seconds. A process that is killed
/// does not run it.
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
