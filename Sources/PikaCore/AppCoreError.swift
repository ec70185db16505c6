public import Nostr

/// Why the core could not do what it was asked to.
public struct AppCoreError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// No chat has that id.
        public static let unknownChat = Code(description: "unknown_chat")
        /// Several groups claim the nostrGroupID that was to name a chat.
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
        /// Another change to the group is under way.
        public static let busy = Code(description: "busy")
        /// A better commit of another member took this one's place.
        public static let displaced = Code(description: "displaced")
        /// Other members' commits undid the change again and again.
        public static let contested = Code(description: "contested")
        /// No media server is configured.
        public static let noMediaServer = Code(description: "no_media_server")
        /// No media server took or had a file, or it was not the one that was meant.
        public static let mediaFailed = Code(description: "media_failed")
        /// No message has such a file.
        public static let unknownMedia = Code(description: "unknown_media")
        /// No message has that id, or it is not in a state for this.
        public static let unknownMessage = Code(description: "unknown_message")
        /// An address that is none, or of another kind.
        public static let badAddress = Code(description: "bad_address")
        /// Another copy of this account has changed the group's keys: only a new invitation leads back.
        public static let overtaken = Code(description: "overtaken")
        /// A later copy of this account was started; this one must not run any more.
        public static let superseded = Code(description: "superseded")
        /// No such call is under way.
        public static let unknownCall = Code(description: "unknown_call")
        /// A call's media cannot be carried: nothing here speaks to its relay, or the connection failed.
        public static let callMediaFailed = Code(description: "call_media_failed")
        /// Nobody is logged in.
        public static let notLoggedIn = Code(description: "not_logged_in")
        /// The session of the account ended before the action did.
        public static let sessionEnded = Code(description: "session_ended")
        /// A key, encrypted key or signer's address that is none.
        public static let badCredential = Code(description: "bad_credential")
        /// The password does not open the encrypted key.
        public static let wrongPassword = Code(description: "wrong_password")
        /// The stored key is under a password, which has to be given.
        public static let passwordNeeded = Code(description: "password_needed")
        /// Where the account's key is kept cannot be read or written.
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

    public let code: Code
    /// What went wrong and what to do.
    public let message: String
    /// The peers on whose account it failed, for ``Code/noKeyPackage`` and ``Code/noRelay``.
    public let peers: [PublicKey: KeyPackageVerdict]

    public init(_ code: Code, _ message: String, peers: [PublicKey: KeyPackageVerdict] = [:]) {
        self.code = code
        self.message = message
        self.peers = peers
    }

    public var description: String { "\(self.code): \(self.message)" }
}
