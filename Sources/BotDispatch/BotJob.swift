import BotKit

/// A queued unit of work.
enum BotJob: Sendable, Hashable {
    /// An event, for all bots.
    case event(CoreEvent)
    /// A run of a schedule, for one bot.
    case schedule(ScheduleID, ScheduleRun)
    case timer(bot: String, TimerRun)

    /// The lane of the job. Jobs of one lane, a chat, a feed or a schedule, run one at a time.
    var lane: String {
        switch self {
        case .event(let event): event.lane
        case .schedule(let id, _): "schedule/\(id.bot)/\(id.name)"
        case .timer(_, let run): run.chatID.rawValue
        }
    }
}

/// The id of a schedule among the account's bots.
struct ScheduleID: Sendable, Hashable {
    let bot: String
    let name: String
}
