/// The explanation of each reason, and advice.
enum EventReasons {
    typealias Explanation = (sentence: String, advice: String)

    static func explanation(of entry: JournalEntry) -> Explanation {
        switch entry.fate {
        case .ignored: ignored[entry.reason] ?? ("ignored: \(entry.reason)", "")
        case .handled:
            entry.reason == "done"
                ? ("a handler accepted it, and its effects were put in the outbox", "")
                : ("a handler accepted it and requested no effects", "")
        case .failed:
            entry.reason == "timeout"
                ? (
                    "a handler exceeded its deadline, and its effects were dropped",
                    "Raise the bot's timeout, or look in the log for what it waited for."
                )
                : ("a handler threw an error, and its effects were dropped", "See the log for the error.")
        case .refused: refused[entry.reason] ?? ("refused: \(entry.reason)", otherRefusal)
        case .waiting where entry.reason == JournalEntry.stuck:
            (
                "it waits, because too many of this bot's handlers hang",
                "Restart the account (pikabot restart), and look in the log for the handlers that exceeded their deadline."
            )
        case .gaveUp where entry.reason == JournalEntry.crashed:
            (
                "abandoned: the worker died repeatedly while a handler was running for it",
                "See the log for the crash (pikabot logs). Fix the handler; if the message is sent again, it is handled."
            )
        case .waiting where entry.reason == "future_time":
            (
                "its timestamp is more than 300 s ahead of this machine's clock, so it is kept until then",
                "Check this machine's clock (pikabot doctor); if it is right, the sender's is wrong."
            )
        case .waiting:
            (
                "it cannot be decrypted yet and is kept: \(entry.reason)",
                "It is retried after every commit of the group. If it stays, the commit that leads to its epoch is "
                    + "missing on the relays."
            )
        case .gaveUp:
            (
                "kept for later, then abandoned: \(entry.reason)",
                "Handlers are too slow or the worker was down for too long; see retention in the configuration."
            )
        }
    }

    private static let otherRefusal =
        "The sender's client violated the protocol, or the event is forged."

    private static let ignored: [String: Explanation] = [
        IgnoreReason.own.description: ("it is the account's own event", "Bots do not handle their own events."),
        IgnoreReason.groupScope.description: (
            "the bot is not active in this chat, or only when mentioned",
            "Mention it (@name), or change the bot's `groups`."
        ),
        IgnoreReason.notAllowed.description: (
            "its author may not trigger this bot", "Change the bot's `triggers`, or make the author an admin."
        ),
        IgnoreReason.unknownRole.description: (
            "only admins may trigger this bot, and the author's role in the event's epoch is no longer known",
            "It arrived more than five epochs late; send it again."
        ),
        IgnoreReason.notOperator.description: (
            "it is an operator command, and its author is not an operator",
            "Add the author's key to the account's `operators`."
        ),
        IgnoreReason.paused.description: (
            "the bot is paused", "Resume it: @name !!resume BOT in a chat, or pikabot resume."
        ),
        IgnoreReason.noHandler.description: (
            "no handler of the bot accepts it", "See the bot's rules or filters; /help in the chat lists its commands."
        ),
        IgnoreReason.loop.description: (
            "the loop breaker ended an exchange between bots",
            "It resumes when a person writes or after \(LoopBreaker.quietSeconds) s; limits.botPair sets how "
                + "long an exchange may be."
        ),
        IgnoreReason.rateLimitedSender.description: (
            "its author has triggered this bot too often", "Wait, or raise limits.perSender."
        ),
        IgnoreReason.rateLimitedGroup.description: (
            "the group has triggered this bot too often", "Wait, or raise limits.perGroup."
        ),
    ]

    private static let refused: [String: Explanation] = [
        "unknown_group": (
            "the account is not a member of its group", "Invite the account, or find out who removed it."
        ),
        "duplicate": ("it is a duplicate", "Only the first copy counts; query that one."),
        "expired": ("it had expired before it arrived (disappearing messages)", "Check whether the worker is behind."),
        "not_admin": (
            "its author is not an admin, and only admins may make this change", "Make the author an admin first."
        ),
        "past_epoch": (
            "the keys of its epoch have been deleted", "It arrived more than five epochs late; send it again."
        ),
        "lost_race": ("another commit for the same epoch won", "The author's client proposes the change again."),
        "bad_time": (
            "its timestamp is more than 45 days in the past", "Correct the sender's clock, or this machine's."
        ),
        "epoch_too_high": (
            "the invitation has an epoch number that no real group reaches",
            "Its sender's client is broken or hostile."
        ),
        "not_for_us": ("it is for another account, or for a deleted key package", "Invite the account again."),
        "no_key": ("no known key decrypts it", "The account was not a member when it was sent."),
        "inactive": ("the account was removed from the group", "Invite it again."),
        "quarantined": (
            "it is quarantined, because workers crashed on it",
            "pikabot quarantine lists the entries; release it after an update."
        ),
        "no_welcome": (
            "it is a gift wrap that contains no Welcome (kind 444)",
            "Gift wraps only carry invitations: invite the account to a group, and write there."
        ),
        "unexpected_kind": ("the account did not subscribe to its kind", ""),
        "too_many_invites": ("too many pending invitations", "Accept or decline the pending ones."),
        "stale_call": ("the call invitation arrived too late", "Call again."),
        "foreign_call": ("the call is for another member", ""),
        "repeated_call": ("the call's id was used before", "Call again; each call needs a new id."),
    ]
}
