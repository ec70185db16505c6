/// The reason why a bot could not be created, or why a handler's request failed.
public struct BotError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of failure, identified by a word in snake case.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The word, as in logs and metrics.
        public let description: String

        /// The bot does not accept its settings under `with:`.
        public static let invalidSettings = Code(description: "invalid_settings")
        /// The handled event is not a message, so there is nothing to react to.
        public static let noMessage = Code(description: "no_message")
        /// The handled event is not a call signal, so there is no call to reject or end.
        public static let noCall = Code(description: "no_call")
        /// The trigger belongs to no chat, and the handler named none.
        public static let noChat = Code(description: "no_chat")
        /// Several groups claim the nostrGroupID by which the handler named a chat.
        public static let ambiguousChat = Code(description: "ambiguous_chat")
        /// A handler exceeded its deadline.
        public static let timedOut = Code(description: "timed_out")
        /// Too many of the bot's handlers hang.
        public static let stuck = Code(description: "stuck")
        /// The schedule is invalid.
        public static let invalidSchedule = Code(description: "invalid_schedule")
        /// An HTTP request got no response, or one that is too long.
        public static let requestFailed = Code(description: "request_failed")
        /// A user's text would have changed the destination of a URL in the settings.
        public static let addressRefused = Code(description: "address_refused")
        /// A program could not be started, or failed.
        public static let programFailed = Code(description: "program_failed")
        /// A secret that a setting refers to could not be read.
        public static let noSecret = Code(description: "no_secret")
        /// The settings do not allow the probe.
        public static let probeRefused = Code(description: "probe_refused")
        /// A file that a setting names could not be read, or is too long.
        public static let noFile = Code(description: "no_file")
    }

    /// The kind of failure.
    public let code: Code
    /// The failure in one sentence, for the log.
    public let message: String

    /// Creates an error with one of the codes above and one sentence without secrets.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message, such as `no_chat: the trigger has no chat`.
    public var description: String { "\(code): \(message)" }
}
