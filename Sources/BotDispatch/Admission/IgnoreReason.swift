/// The reason why a bot did not get an event. The text is a metric label: `bot_events_ignored_total{reason}`.
package struct IgnoreReason: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// The account itself caused the event.
    package static let own = IgnoreReason(description: "own")
    /// The bot is not active in this group, or only when mentioned.
    package static let groupScope = IgnoreReason(description: "group_scope")
    /// Its author may not trigger the bot.
    package static let notAllowed = IgnoreReason(description: "not_allowed")
    /// Only admins may trigger the bot, and it is unknown whether the author was one at the time.
    package static let unknownRole = IgnoreReason(description: "unknown_role")
    /// A command to the runtime from an author who is not an operator.
    package static let notOperator = IgnoreReason(description: "not_operator")
    /// An operator has paused the bot.
    package static let paused = IgnoreReason(description: "paused")
    /// No handler of the bot accepts the event.
    package static let noHandler = IgnoreReason(description: "no_handler")
    /// The exchange with another automated account has exceeded its limit.
    package static let loop = IgnoreReason(description: "loop")
    /// The author has exceeded the rate limit per sender.
    package static let rateLimitedSender = IgnoreReason(description: "rate_limited_sender")
    /// The group has exceeded the rate limit per group.
    package static let rateLimitedGroup = IgnoreReason(description: "rate_limited_group")

    package static let all: [IgnoreReason] = [
        .own, .groupScope, .notAllowed, .unknownRole, .notOperator, .paused, .noHandler, .loop, .rateLimitedSender,
        .rateLimitedGroup,
    ]
}

/// The decision whether an event may trigger a bot.
package enum AdmissionVerdict: Hashable, Sendable {
    case admitted
    case ignored(IgnoreReason, detail: String)

    static func ignored(_ reason: IgnoreReason) -> Self { .ignored(reason, detail: "") }
}
