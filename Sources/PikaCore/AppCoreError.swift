public import Nostr

/// The reason why the core could not perform an operation.
public struct AppCoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable code of an error, for callers and logs.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as text in snake case, such as `unknown_chat`.
        public let description: String

        /// No chat has that id.
        public static let unknownChat = Code(description: "unknown_chat")
        /// Several groups claim the nostrGroupID that refers to the chat.
        public static let ambiguousChat = Code(description: "ambiguous_chat")
        /// No invitation has that id.
        public static let unknownInvite = Code(description: "unknown_invite")
        /// No usable key package was found for a peer.
        public static let noKeyPackage = Code(description: "no_key_package")
        /// No relay answered.
        public static let noRelay = Code(description: "no_relay")
        /// Every relay refused.
        public static let refused = Code(description: "refused")
        /// The group's rules forbid it.
        public static let notAllowed = Code(description: "not_allowed")
        /// Another change to the group is in progress.
        public static let busy = Code(description: "busy")
        /// A better commit of another member replaced this one.
        public static let displaced = Code(description: "displaced")
        /// Other members' commits undid the change repeatedly.
        public static let contested = Code(description: "contested")
        /// No media server is configured.
        public static let noMediaServer = Code(description: "no_media_server")
        /// No media server accepted or had the file, or the received file was not the expected one.
        public static let mediaFailed = Code(description: "media_failed")
        /// No message has such a file.
        public static let unknownMedia = Code(description: "unknown_media")
        /// No message has that id, or its state does not allow the action.
        public static let unknownMessage = Code(description: "unknown_message")
        /// Malformed address, or an address of another kind.
        public static let badAddress = Code(description: "bad_address")
        /// Another copy of this account has changed the group's keys: only a new invitation restores access.
        public static let overtaken = Code(description: "overtaken")
        /// A later copy of this account was started; this one must stop.
        public static let superseded = Code(description: "superseded")
        /// No such call is in progress.
        public static let unknownCall = Code(description: "unknown_call")
        /// A call's media cannot be carried: no transport supports its relay, or the connection failed.
        public static let callMediaFailed = Code(description: "call_media_failed")
        /// No account is logged in.
        public static let notLoggedIn = Code(description: "not_logged_in")
        /// The account's session ended before the action did.
        public static let sessionEnded = Code(description: "session_ended")
        /// Malformed key, encrypted key or signer address.
        public static let badCredential = Code(description: "bad_credential")
        /// The password does not open the encrypted key.
        public static let wrongPassword = Code(description: "wrong_password")
        /// The stored key is encrypted; its password is required.
        public static let passwordNeeded = Code(description: "password_needed")
        /// The storage of the account's key cannot be read or written.
        public static let identityUnavailable = Code(description: "identity_unavailable")
        /// The account's state or connections could not be opened, or have failed.
        public static let accountUnavailable = Code(description: "account_unavailable")
        /// The setting cannot change while the core runs.
        public static let needsRestart = Code(description: "needs_restart")
        /// The account's remote signer refused.
        public static let signerRefused = Code(description: "signer_refused")
        /// The account's remote signer did not answer in time.
        public static let signerAway = Code(description: "signer_away")
        /// The remote signer holds another account's key.
        public static let wrongSigner = Code(description: "wrong_signer")
        /// Stored state cannot be read.
        public static let corruptState = Code(description: "corrupt_state")
    }

    /// The code of the failure.
    public let code: Code
    /// The cause and the fix, for people.
    public let message: String
    /// The peers that caused the failure, for ``Code/noKeyPackage`` and ``Code/noRelay``.
    public let peers: [PublicKey: KeyPackageVerdict]

    /// Creates an error with a message that states what went wrong and how to fix it.
    public init(_ code: Code, _ message: String, peers: [PublicKey: KeyPackageVerdict] = [:]) {
        self.code = code
        self.message = message
        self.peers = peers
    }

    /// The code and the message.
    public var description: String { "\(self.code): \(self.message)" }
}
