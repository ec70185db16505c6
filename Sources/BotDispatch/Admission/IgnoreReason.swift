/// The reason why a bot did not get an event. The raw values are stored in journals and are labels of
/// `bot_events_ignored_total{reason}`: they never change.
package enum IgnoreReason: String, Hashable, Sendable, CaseIterable {
    /// The account itself caused the event.
    case own
    /// The bot is not active in this group, or only when mentioned.
    case groupScope = "group_scope"
    /// Its author may not trigger the bot.
    case notAllowed = "not_allowed"
    /// Only admins may trigger the bot, and it is unknown whether the author was one at the time.
    case unknownRole = "unknown_role"
    /// A command to the runtime from an author who is not an operator.
    case notOperator = "not_operator"
    /// An operator has paused the bot.
    case paused
    /// No handler of the bot accepts the event.
    case noHandler = "no_handler"
    /// The exchange with another automated account has exceeded its limit.
    case loop
    /// The author has exceeded the rate limit per sender.
    case rateLimitedSender = "rate_limited_sender"
    /// The group has exceeded the rate limit per group.
    case rateLimitedGroup = "rate_limited_group"
}

/// The decision whether an event may trigger a bot.
package enum AdmissionVerdict: Hashable, Sendable {
    case admitted
    case ignored(IgnoreReason, detail: String)

    static func ignored(_ reason: IgnoreReason) -> Self { .ignored(reason, detail: "") }
}
