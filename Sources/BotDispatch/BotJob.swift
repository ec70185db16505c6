import BotKit

/// Something that waits for its turn.
enum BotJob: Sendable, Hashable {
    /// For all bots.
    case event(CoreEvent)
    /// For one bot.
    case schedule(ScheduleID, ScheduleRun)
    case timer(bot: String, TimerRun)

    /// Jobs of one lane are done one after the other: those of a chat, and those of a schedule.
    var lane: String {
        switch self {
        case .event(let event): event.chatID
        case .schedule(let id, _): "schedule/\(id.bot)/\(id.name)"
        case .timer(_, let run): run.chatID
        }
    }
}

/// Names a schedule of one of the account's bots.
struct ScheduleID: Sendable, Hashable {
    let bot: String
    let name: String
}
