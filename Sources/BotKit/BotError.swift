/// Why a bot could not be made, or could not do what its handler asked for.
public struct BotError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// What stands under `with:` is not what the bot understands.
        public static let invalidSettings = Code(description: "invalid_settings")
        /// The handled event is no message, so there is nothing to react to.
        public static let noMessage = Code(description: "no_message")
        /// The handled event is no call signal, so there is no call to reject or end.
        public static let noCall = Code(description: "no_call")
        /// The handler runs for something that belongs to no chat, and named none.
        public static let noChat = Code(description: "no_chat")
        /// Several groups claim the nostrGroupID that the handler named a chat by.
        public static let ambiguousChat = Code(description: "ambiguous_chat")
        /// A handler took longer than it may.
        public static let timedOut = Code(description: "timed_out")
        /// Too many of the bot's handlers hang.
        public static let stuck = Code(description: "stuck")
        /// A schedule that cannot be read.
        public static let invalidSchedule = Code(description: "invalid_schedule")
        /// An HTTP request had no answer, or too long a one.
        public static let requestFailed = Code(description: "request_failed")
        /// What people wrote would have made an address lead elsewhere than its settings say.
        public static let addressRefused = Code(description: "address_refused")
        /// A program could not be run, or failed.
        public static let programFailed = Code(description: "program_failed")
        /// What a setting refers to could not be read.
        public static let noSecret = Code(description: "no_secret")
        /// A probe of something that the settings do not allow.
        public static let probeRefused = Code(description: "probe_refused")
        /// A file that a setting names could not be read, or is too long.
        public static let noFile = Code(description: "no_file")
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}
