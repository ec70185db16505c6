/// What a handler runs for.
public enum BotTrigger: Sendable, Hashable {
    /// Something happened in a chat.
    case event(CoreEvent)
    /// A schedule of the bot is due.
    case schedule(ScheduleRun)
    /// A timer that a handler has set is due.
    case timer(TimerRun)
    /// The bot begins its work: the process has started, or a new configuration has brought the bot in.
    case start
    /// The bot ends its work, in good order.
    case stop
    /// Somebody outside asks for a probe.
    case probe(ProbeRequest)
}

/// One run of a schedule.
public struct ScheduleRun: Sendable, Hashable {
    public let name: String
    /// When it was due, Unix milliseconds; the run may begin later.
    public let dueMilliseconds: Int64
    /// Whether it makes up for runs that were missed while nothing ran.
    public let isCatchUp: Bool

    package init(name: String, dueMilliseconds: Int64, isCatchUp: Bool) {
        self.name = name
        self.dueMilliseconds = dueMilliseconds
        self.isCatchUp = isCatchUp
    }
}

/// A timer that has run out.
public struct TimerRun: Sendable, Hashable {
    public let name: String
    /// The chat that it was set for.
    public let chatID: String
    /// Tells it from others of its name in the same chat.
    public let key: String
    /// What was noted with it.
    public let text: String
    /// When it was due, Unix milliseconds; the run may begin later.
    public let dueMilliseconds: Int64

    package init(name: String, chatID: String, key: String, text: String, dueMilliseconds: Int64) {
        self.name = name
        self.chatID = chatID
        self.key = key
        self.text = text
        self.dueMilliseconds = dueMilliseconds
    }
}

extension BotTrigger {
    public var event: CoreEvent? { if case .event(let event) = self { event } else { nil } }

    /// The message that the handler runs for; nil if it runs for something else.
    public var message: MessageEvent? {
        if case .message(let message)? = event?.content { message } else { nil }
    }

    /// The chat that it belongs to; empty for schedules, start, stop and probes.
    package var chatID: String {
        switch self {
        case .event(let event): event.chatID
        case .timer(let run): run.chatID
        case .schedule, .start, .stop, .probe: ""
        }
    }

    /// Names what the handler runs for, the same again after a restart. Starts, stops and probes are told apart by
    /// their time.
    package func inputID(nowMilliseconds: Int64) -> String {
        switch self {
        case .event(let event): event.inputID
        case .schedule(let run): "schedule-\(run.name)-\(run.dueMilliseconds)"
        case .timer(let run): "timer-\(run.chatID)-\(run.name)-\(run.key)-\(run.dueMilliseconds)"
        case .start: "start-\(nowMilliseconds)"
        case .stop: "stop-\(nowMilliseconds)"
        case .probe(let request): "probe-\(request.module)-\(nowMilliseconds)"
        }
    }
}
