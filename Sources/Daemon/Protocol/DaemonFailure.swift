/// Error of a command, as an `error` reply reports it (docs/daemon.md).
package struct DaemonFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Machine-readable code: those of the pikachat daemon, and a few of the extension.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        package static let parseError = Code(description: "parse_error")
        package static let badRequest = Code(description: "bad_request")
        package static let badRelays = Code(description: "bad_relays")
        package static let badPublicKey = Code(description: "bad_pubkey")
        package static let badEventID = Code(description: "bad_event_id")
        package static let badGroupID = Code(description: "bad_group_id")
        package static let badEmoji = Code(description: "bad_emoji")
        package static let badAction = Code(description: "bad_action")
        package static let badMIMEType = Code(description: "bad_mime_type")
        package static let notFound = Code(description: "not_found")
        package static let busy = Code(description: "busy")
        package static let authFailed = Code(description: "auth_failed")
        package static let noKeyPackages = Code(description: "no_key_packages")
        package static let fetchFailed = Code(description: "fetch_failed")
        package static let giftWrapFailed = Code(description: "gift_wrap_failed")
        package static let publishFailed = Code(description: "publish_failed")
        package static let mergeFailed = Code(description: "merge_failed")
        package static let signFailed = Code(description: "sign_failed")
        package static let fileError = Code(description: "file_error")
        package static let encryptError = Code(description: "encrypt_error")
        package static let uploadFailed = Code(description: "upload_failed")
        package static let ioError = Code(description: "io_error")
        /// Rejected by the group or its rules; the name is the reference implementation's.
        package static let mdkError = Code(description: "mdk_error")
        package static let runtimeError = Code(description: "runtime_error")

        // The extension
        /// Requires a `hello` with a token that allows the command.
        package static let unauthorized = Code(description: "unauthorized")
        /// The token is read-only.
        package static let forbidden = Code(description: "forbidden")
        package static let badToken = Code(description: "bad_token")
        package static let badCursor = Code(description: "bad_cursor")
        /// The idempotency key was used for a different command.
        package static let keyReused = Code(description: "key_reused")
        /// The client read too slowly.
        package static let slowClient = Code(description: "slow_client")
        package static let tooManyClients = Code(description: "too_many_clients")
        package static let loginFailed = Code(description: "login_failed")
        package static let logoutFailed = Code(description: "logout_failed")
        /// The configuration does not allow the command to the program.
        package static let notAllowed = Code(description: "not_allowed")
    }

    package let code: Code
    /// Description for people.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(self.code): \(self.message)" }
}
