public import Errors

/// The reason why a bot could not be created, or why a handler's request failed.
public struct BotError: CodedError, Hashable {
    /// A kind of failure, identified by a word in snake case and listed in ``Errors/ErrorCode``.
    public typealias Code = ErrorCode<BotError>

    /// The kind of failure.
    public let code: Code
    /// The failure in one sentence, for the log.
    public let message: String

    /// Creates an error with one of the codes above and one sentence without secrets.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// The kinds of ``BotError``.
extension ErrorCode where Failure == BotError {
    /// The bot does not accept its settings under `with:`.
    public static var invalidSettings: Self { Self("invalid_settings") }
    /// The handled event is not a message, so there is nothing to react to.
    public static var noMessage: Self { Self("no_message") }
    /// The handled event is not a call signal, so there is no call to reject or end.
    public static var noCall: Self { Self("no_call") }
    /// A call is over, was not answered, or its media cannot be exchanged.
    public static var callFailed: Self { Self("call_failed") }
    /// The trigger belongs to no chat, and the handler named none.
    public static var noChat: Self { Self("no_chat") }
    /// Several groups claim the nostrGroupID by which the handler named a chat.
    public static var ambiguousChat: Self { Self("ambiguous_chat") }
    /// A handler exceeded its deadline.
    public static var timedOut: Self { Self("timed_out") }
    /// Too many of the bot's handlers hang.
    public static var stuck: Self { Self("stuck") }
    /// The schedule is invalid.
    public static var invalidSchedule: Self { Self("invalid_schedule") }
    /// An HTTP request got no response, or one that is too long.
    public static var requestFailed: Self { Self("request_failed") }
    /// A user's text would have changed the destination of a URL in the settings.
    public static var addressRefused: Self { Self("address_refused") }
    /// A program could not be started, or failed.
    public static var programFailed: Self { Self("program_failed") }
    /// A secret that a setting refers to could not be read.
    public static var noSecret: Self { Self("no_secret") }
    /// The settings do not allow the probe.
    public static var probeRefused: Self { Self("probe_refused") }
    /// A file that a setting names could not be read, or is too long.
    public static var noFile: Self { Self("no_file") }
    /// The bot's durable storage failed, or is not available.
    public static var storageFailed: Self { Self("storage_failed") }
    /// The vault does not accept the name or the size of a secret.
    public static var vaultRefused: Self { Self("vault_refused") }
    /// A queue or another limit of a service is exhausted.
    public static var limitReached: Self { Self("limit_reached") }
    /// The service refused the token and its renewal: the user must sign in again.
    public static var signedOut: Self { Self("signed_out") }
    /// The service refuses requests even with a renewed token.
    public static var unauthorized: Self { Self("unauthorized") }
    /// A statement is malformed or not permitted, or violates a constraint.
    public static var invalidStatement: Self { Self("invalid_statement") }
    /// A statement exceeded its time, rows or bytes.
    public static var statementTooLong: Self { Self("statement_too_long") }
    /// The database file has reached its limit.
    public static var databaseFull: Self { Self("database_full") }
}
