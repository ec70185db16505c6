/// The reason why a handler runs.
public enum BotTrigger: Sendable, Hashable {
    /// An event in a chat, or an item of a feed.
    case event(CoreEvent)
    /// A due schedule of the bot.
    case schedule(ScheduleRun)
    /// A due timer that a handler has set.
    case timer(TimerRun)
    /// The start of the bot: the process has started, or a new configuration has added the bot.
    case start
    /// The orderly stop of the bot.
    case stop
    /// A probe request from outside.
    case probe(ProbeRequest)
}

/// One run of a schedule.
public struct ScheduleRun: Sendable, Hashable {
    /// The schedule's name, as passed to ``OnSchedule``.
    public let name: String
    /// Unix milliseconds when the run was due; it may start later.
    public let dueMilliseconds: Int64
    /// Whether it makes up for runs that were missed while the process was not running.
    public let isCatchUp: Bool

    package init(name: String, dueMilliseconds: Int64, isCatchUp: Bool) {
        self.name = name
        self.dueMilliseconds = dueMilliseconds
        self.isCatchUp = isCatchUp
    }
}

/// A timer that has expired.
public struct TimerRun: Sendable, Hashable {
    /// The timer's name, as passed to ``OnTimer``.
    public let name: String
    /// The chat that the timer was set for.
    public let chatID: ChatID
    /// Distinguishes timers with the same name in the same chat.
    public let key: String
    /// The text that was set with the timer.
    public let text: String
    /// Unix milliseconds when the timer was due; the run may start later.
    public let dueMilliseconds: Int64

    package init(name: String, chatID: ChatID, key: String, text: String, dueMilliseconds: Int64) {
        self.name = name
        self.chatID = chatID
        self.key = key
        self.text = text
        self.dueMilliseconds = dueMilliseconds
    }
}

extension BotTrigger {
    /// The event of the trigger; nil if it is not an event.
    public var event: CoreEvent? { if case .event(let event) = self { event } else { nil } }

    /// The message of the trigger; nil if it is not a message.
    public var message: MessageEvent? {
        if case .message(let message)? = event?.content { message } else { nil }
    }

    /// The chat that the trigger belongs to; empty for feeds, schedules, start, stop and probes.
    package var chatID: ChatID {
        switch self {
        case .event(let event): event.chatID
        case .timer(let run): run.chatID
        case .schedule, .start, .stop, .probe: ""
        }
    }

    /// Returns an id of the trigger that is the same after a restart. Starts, stops and probes are distinguished by
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
