/// Error of a command, as an `error` reply reports it (docs/daemon.md).
public struct DaemonFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Machine-readable code: those of the pikachat daemon, and a few of the extension.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        public static let parseError = Code(description: "parse_error")
        public static let badRequest = Code(description: "bad_request")
        public static let badRelays = Code(description: "bad_relays")
        public static let badPublicKey = Code(description: "bad_pubkey")
        public static let badEventID = Code(description: "bad_event_id")
        public static let badGroupID = Code(description: "bad_group_id")
        public static let badEmoji = Code(description: "bad_emoji")
        public static let badAction = Code(description: "bad_action")
        public static let badMIMEType = Code(description: "bad_mime_type")
        public static let notFound = Code(description: "not_found")
        public static let busy = Code(description: "busy")
        public static let authFailed = Code(description: "auth_failed")
        public static let noKeyPackages = Code(description: "no_key_packages")
        public static let fetchFailed = Code(description: "fetch_failed")
        public static let giftWrapFailed = Code(description: "gift_wrap_failed")
        public static let publishFailed = Code(description: "publish_failed")
        public static let mergeFailed = Code(description: "merge_failed")
        public static let signFailed = Code(description: "sign_failed")
        public static let fileError = Code(description: "file_error")
        public static let encryptError = Code(description: "encrypt_error")
        public static let uploadFailed = Code(description: "upload_failed")
        public static let ioError = Code(description: "io_error")
        /// Rejected by the group or its rules; the name is the reference implementation's.
        public static let mdkError = Code(description: "mdk_error")
        public static let runtimeError = Code(description: "runtime_error")

        // The extension
        /// Requires a `hello` with a token that allows the command.
        public static let unauthorized = Code(description: "unauthorized")
        /// The token is read-only.
        public static let forbidden = Code(description: "forbidden")
        public static let badToken = Code(description: "bad_token")
        public static let badCursor = Code(description: "bad_cursor")
        /// The idempotency key was used for a different command.
        public static let keyReused = Code(description: "key_reused")
        /// The client read too slowly.
        public static let slowClient = Code(description: "slow_client")
        public static let tooManyClients = Code(description: "too_many_clients")
        /// The configuration does not allow the command to the program.
        public static let notAllowed = Code(description: "not_allowed")
    }

    public let code: Code
    /// Description for people.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(self.code): \(self.message)" }
}
