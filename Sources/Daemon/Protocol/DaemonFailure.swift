package import Errors
import PikaCore

/// Error of a command, as an `error` reply reports it (docs/daemon.md).
package struct DaemonFailure: CodedError, Hashable {
    /// Machine-readable code: those of the pikachat daemon, and a few of the extension.
    package typealias Code = ErrorCode<DaemonFailure>

    package let code: Code
    /// Description for people.
    package let message: String
    /// The action that was requested before the command failed, and whose outcome may still come as an event.
    var action: ActionID?

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ErrorCode where Failure == DaemonFailure {
    package static var parseError: Self { Self("parse_error") }
    package static var badRequest: Self { Self("bad_request") }
    package static var badRelays: Self { Self("bad_relays") }
    package static var badPublicKey: Self { Self("bad_pubkey") }
    package static var badEventID: Self { Self("bad_event_id") }
    package static var badGroupID: Self { Self("bad_group_id") }
    package static var badEmoji: Self { Self("bad_emoji") }
    package static var badAction: Self { Self("bad_action") }
    package static var badMIMEType: Self { Self("bad_mime_type") }
    package static var notFound: Self { Self("not_found") }
    package static var busy: Self { Self("busy") }
    package static var authFailed: Self { Self("auth_failed") }
    package static var noKeyPackages: Self { Self("no_key_packages") }
    package static var fetchFailed: Self { Self("fetch_failed") }
    package static var giftWrapFailed: Self { Self("gift_wrap_failed") }
    package static var publishFailed: Self { Self("publish_failed") }
    package static var mergeFailed: Self { Self("merge_failed") }
    package static var signFailed: Self { Self("sign_failed") }
    package static var fileError: Self { Self("file_error") }
    package static var encryptError: Self { Self("encrypt_error") }
    package static var uploadFailed: Self { Self("upload_failed") }
    package static var ioError: Self { Self("io_error") }
    /// Rejected by the group or its rules; the name is the reference implementation's.
    package static var mdkError: Self { Self("mdk_error") }
    package static var runtimeError: Self { Self("runtime_error") }

    // Codes that the pikachat daemon lacks
    /// Requires a `hello` with a token that allows the command.
    package static var unauthorized: Self { Self("unauthorized") }
    /// The token is read-only.
    package static var forbidden: Self { Self("forbidden") }
    package static var badToken: Self { Self("bad_token") }
    package static var badCursor: Self { Self("bad_cursor") }
    /// The idempotency key was used for a different command.
    package static var keyReused: Self { Self("key_reused") }
    /// The client read too slowly.
    package static var slowClient: Self { Self("slow_client") }
    package static var tooManyClients: Self { Self("too_many_clients") }
    package static var loginFailed: Self { Self("login_failed") }
    package static var logoutFailed: Self { Self("logout_failed") }
    /// The configuration does not allow the command to the program.
    package static var notAllowed: Self { Self("not_allowed") }
}
