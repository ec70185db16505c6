public import Errors
public import Nostr

/// The reason why the core could not perform an operation.
public struct AppCoreError: CodedError, Hashable {
    /// A stable code of an error, for callers and logs.
    public typealias Code = ErrorCode<AppCoreError>

    /// The code of the failure.
    public let code: Code
    /// The cause and the fix, for people.
    public let message: String
    /// The peers that caused the failure, for `Code.noKeyPackage` and `Code.noRelay`.
    public let peers: [PublicKey: KeyPackageVerdict]

    /// Creates an error with a message that states what went wrong and how to fix it.
    public init(_ code: Code, _ message: String, peers: [PublicKey: KeyPackageVerdict] = [:]) {
        self.code = code
        self.message = message
        self.peers = peers
    }
}

extension ErrorCode where Failure == AppCoreError {
    /// No chat has that id.
    public static var unknownChat: Self { Self("unknown_chat") }
    /// Several groups claim the nostrGroupID that refers to the chat.
    public static var ambiguousChat: Self { Self("ambiguous_chat") }
    /// No invitation has that id.
    public static var unknownInvite: Self { Self("unknown_invite") }
    /// No usable key package was found for a peer.
    public static var noKeyPackage: Self { Self("no_key_package") }
    /// No relay answered.
    public static var noRelay: Self { Self("no_relay") }
    /// Every relay refused.
    public static var refused: Self { Self("refused") }
    /// The group's rules forbid it.
    public static var notAllowed: Self { Self("not_allowed") }
    /// Another change to the group is in progress.
    public static var busy: Self { Self("busy") }
    /// A better commit of another member replaced this one.
    public static var displaced: Self { Self("displaced") }
    /// Other members' commits undid the change repeatedly.
    public static var contested: Self { Self("contested") }
    /// No media server is configured.
    public static var noMediaServer: Self { Self("no_media_server") }
    /// No media server accepted or had the file, or the received file was not the expected one.
    public static var mediaFailed: Self { Self("media_failed") }
    /// No message has such a file.
    public static var unknownMedia: Self { Self("unknown_media") }
    /// No message has that id, or its state does not allow the action.
    public static var unknownMessage: Self { Self("unknown_message") }
    /// Malformed address, or an address of another kind.
    public static var badAddress: Self { Self("bad_address") }
    /// Another copy of this account has changed the group's keys, or its history cannot be followed any more: only a new
    /// invitation restores access.
    public static var overtaken: Self { Self("overtaken") }
    /// A later copy of this account was started; this one must stop.
    public static var superseded: Self { Self("superseded") }
    /// No such call is in progress.
    public static var unknownCall: Self { Self("unknown_call") }
    /// A call's media cannot be carried: no transport supports its relay, or the connection failed.
    public static var callMediaFailed: Self { Self("call_media_failed") }
    /// No key of the account is stored.
    public static var notLoggedIn: Self { Self("not_logged_in") }
    /// Malformed key, encrypted key or signer address.
    public static var badCredential: Self { Self("bad_credential") }
    /// The password does not open the encrypted key.
    public static var wrongPassword: Self { Self("wrong_password") }
    /// The storage of the account's key cannot be read or written.
    public static var identityUnavailable: Self { Self("identity_unavailable") }
    /// The account's state, or the connections to its signer, could not be opened, or have failed.
    public static var accountUnavailable: Self { Self("account_unavailable") }
    /// The setting cannot change while the core runs.
    public static var needsRestart: Self { Self("needs_restart") }
    /// The account's remote signer refused.
    public static var signerRefused: Self { Self("signer_refused") }
    /// The account's remote signer did not answer in time.
    public static var signerAway: Self { Self("signer_away") }
    /// The remote signer holds another account's key.
    public static var wrongSigner: Self { Self("wrong_signer") }
    /// Stored state cannot be read.
    public static var corruptState: Self { Self("corrupt_state") }
}
