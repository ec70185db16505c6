/// Why an event was not for a bot. The text is a metric label: `bot_events_ignored_total{reason}`.
package struct IgnoreReason: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// It was caused by the account itself.
    package static let own = IgnoreReason(description: "own")
    /// The bot is not at work in this group, or only where it is mentioned.
    package static let groupScope = IgnoreReason(description: "group_scope")
    /// Its author may not trigger the bot.
    package static let notAllowed = IgnoreReason(description: "not_allowed")
    /// Admins only may trigger the bot, and nobody knows any more whether its author was one then.
    package static let unknownRole = IgnoreReason(description: "unknown_role")
    /// A command to the runtime by somebody who is no operator.
    package static let notOperator = IgnoreReason(description: "not_operator")
    /// An operator has paused the bot.
    package static let paused = IgnoreReason(description: "paused")
    /// No handler of the bot takes it.
    package static let noHandler = IgnoreReason(description: "no_handler")
    /// The exchange with another automated account has gone on for long enough.
    package static let loop = IgnoreReason(description: "loop")
    /// Its author has triggered the bot too often lately.
    package static let rateLimitedSender = IgnoreReason(description: "rate_limited_sender")
    /// The group has triggered the bot too often lately.
    package static let rateLimitedGroup = IgnoreReason(description: "rate_limited_group")

    package static let all: [IgnoreReason] = [
        .own, .groupScope, .notAllowed, .unknownRole, .notOperator, .paused, .noHandler, .loop, .rateLimitedSender,
        .rateLimitedGroup,
    ]
}

/// Whether a bot may be triggered by an event.
package enum AdmissionVerdict: Hashable, Sendable {
    case admitted
    case ignored(IgnoreReason, detail: String)

    static func ignored(_ reason: IgnoreReason) -> Self { .ignored(reason, detail: "") }
}
