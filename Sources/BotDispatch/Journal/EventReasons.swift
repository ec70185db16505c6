/// The explanation of each reason, and advice.
enum EventReasons {
    typealias Words = (sentence: String, advice: String)

    static func words(_ entry: JournalEntry) -> Words {
        switch entry.fate {
        case .ignored: ignored[entry.reason] ?? ("it was ignored: \(entry.reason)", "")
        case .handled:
            entry.reason == "done"
                ? ("a handler took it, and what it asked for went to the outbox", "")
                : ("a handler took it and asked for nothing", "")
        case .failed:
            entry.reason == "timeout"
                ? (
                    "a handler took longer than it may, and nothing of what it asked for was done",
                    "Raise the bot's timeout, or see in the log what it waited for."
                )
                : ("a handler threw an error, and nothing of what it asked for was done", "The log has the error.")
        case .refused: refused[entry.reason] ?? ("it was refused: \(entry.reason)", otherRefusal)
        case .waiting where entry.reason == JournalEntry.stuck:
            (
                "it waits, since too many of this bot's handlers hang",
                "Restart the account (pikabot restart), and see the log for which handlers took too long."
            )
        case .gaveUp where entry.reason == JournalEntry.crashed:
            (
                "it was given up: the worker ended again and again while a handler was at work on it",
                "The log has how it ended (pikabot logs). Mend the handler; what is said again is handled again."
            )
        case .waiting where entry.reason == "future_time":
            (
                "its time is more than 300 s ahead of this machine's clock, so it is kept until the clock gets there",
                "Compare this machine's clock (pikabot doctor); if it is right the sender's is wrong."
            )
        case .waiting:
            (
                "it cannot be opened yet and is kept: \(entry.reason)",
                "It is tried again after every change of the group. If it stays, the commit that leads to its epoch is "
                    + "missing on the relays."
            )
        case .gaveUp:
            (
                "it was kept and then given up: \(entry.reason)",
                "Handlers are too slow or the worker was down for too long; see retention in the configuration."
            )
        }
    }

    private static let otherRefusal =
        "Its sender's client made something that the protocol does not allow, or somebody else made it."

    private static let ignored: [String: Words] = [
        IgnoreReason.own.description: ("it is the account's own", "Bots do not answer themselves."),
        IgnoreReason.groupScope.description: (
            "the bot is not at work in this chat, or only when it is mentioned",
            "Mention it (@name), or change the bot's groups."
        ),
        IgnoreReason.notAllowed.description: (
            "its author may not trigger this bot", "Change the bot's triggers, or make the author an admin."
        ),
        IgnoreReason.unknownRole.description: (
            "only admins may trigger this bot, and whether its author was one in its epoch is not known any more",
            "It came more than five changes of the group late; say it again."
        ),
        IgnoreReason.notOperator.description: (
            "it is a command for operators, and its author is none", "Name the author's key in the account's operators."
        ),
        IgnoreReason.paused.description: (
            "the bot is paused", "Resume it: @name !!resume BOT in a chat, or pikabot resume."
        ),
        IgnoreReason.noHandler.description: (
            "no handler of the bot takes it", "See the bot's rules or filters; /help in the chat lists its commands."
        ),
        IgnoreReason.loop.description: (
            "the loop breaker ended an exchange between bots",
            "It starts again when a person speaks or after \(LoopBreaker.quietSeconds) s; limits.botPair says how "
                + "long an exchange may be."
        ),
        IgnoreReason.rateLimitedSender.description: (
            "its author has triggered this bot too often", "Wait, or raise limits.perSender."
        ),
        IgnoreReason.rateLimitedGroup.description: (
            "the group has triggered this bot too often", "Wait, or raise limits.perGroup."
        ),
    ]

    private static let refused: [String: Words] = [
        "unknown_group": ("it is of no group that the account is in", "Invite the account, or see who removed it."),
        "duplicate": ("it came before", "The first one counts; ask about that one."),
        "expired": ("it had ended before it came (disappearing messages)", "See that the worker is not behind."),
        "not_admin": ("its author made a change that only admins may make", "Make the author an admin first."),
        "past_epoch": (
            "it is of an epoch whose keys are gone", "It came more than five changes of the group late; send it again."
        ),
        "lost_race": ("another commit for the same epoch came first", "Its author's client makes the change again."),
        "bad_time": ("its time is more than 45 days past", "Set the sender's clock, or this machine's."),
        "epoch_too_high": (
            "the invitation leads to an epoch number that no real group reaches",
            "Its sender's client is broken or hostile."
        ),
        "not_for_us": ("it is for another account, or for a key package that is gone", "Invite the account again."),
        "no_key": ("no key opens it", "The account was not a member when it was sent."),
        "inactive": ("the account was removed from the group", "Invite it again."),
        "quarantined": (
            "it is set aside, because workers have died of it",
            "pikabot quarantine lists what is set aside; release it after an update."
        ),
        "unexpected_kind": ("its kind is none that the account asked for", ""),
        "too_many_invites": ("more invitations waited than are kept", "Accept or decline those that wait."),
        "stale_call": ("the invitation to the call came too late", "Call again."),
        "foreign_call": ("the call is for another member", ""),
        "repeated_call": ("the call's id was used before", "Call again; each call needs a new id."),
    ]
}
