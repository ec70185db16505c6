/// Reason why a local Marmot operation, or a peer's event, was refused.
public struct MarmotError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Kind of refusal; its text is suitable as a counter's label.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Name in snake case, suitable as a counter's label.
        public let description: String

        /// The event's kind is not the one expected.
        public static let wrongKind = Code(description: "wrong_kind")
        /// A tag is missing, duplicated or malformed (MIP-00, MIP-02, MIP-03).
        public static let badTag = Code(description: "bad_tag")
        /// The content is not Base64, or too short.
        public static let badContent = Code(description: "bad_content")
        /// The MLS layer refused the data; the message has the reason.
        public static let mls = Code(description: "mls")
        /// A key package's lifetime has ended.
        public static let expired = Code(description: "expired")
        /// A key package's lifetime has not begun: its author's clock is ahead, or ours is behind.
        public static let notYetValid = Code(description: "not_yet_valid")
        /// A signature of a key package does not verify.
        public static let badSignature = Code(description: "bad_signature")
        /// A credential is not a basic one with a Nostr public key (MIP-00).
        public static let badCredential = Code(description: "bad_credential")
        /// A key package, a leaf or an inner event names an identity other than its owner's.
        public static let identityMismatch = Code(description: "identity_mismatch")
        /// The group data extension is missing or malformed (MIP-01).
        public static let badGroupData = Code(description: "bad_group_data")
        /// The caller or committer is not an admin (MIP-01).
        public static let notAdmin = Code(description: "not_admin")
        /// A commit would leave the group without an admin (MIP-01).
        public static let noAdminLeft = Code(description: "no_admin_left")
        /// The event's time is too far in the future or past (MIP-03).
        public static let badTime = Code(description: "bad_time")
        /// An inner event's stated id differs from its hash (MIP-03).
        public static let badRumor = Code(description: "bad_rumor")
        /// The Welcome contains no secrets for this account's key packages.
        public static let notForUs = Code(description: "not_for_us")
        /// A Welcome leads to an epoch higher than any real group reaches.
        public static let epochTooHigh = Code(description: "epoch_too_high")
        /// A key package lacks a capability that the group requires.
        public static let incompatible = Code(description: "incompatible")
        /// This account is no longer a member of the group.
        public static let inactive = Code(description: "inactive")
        /// This account's own commit awaits confirmation by a relay; finish or drop it first.
        public static let commitPending = Code(description: "commit_pending")
        /// The Welcome does not fit into a gift wrap, or the event exceeds a relay's limit.
        public static let tooLarge = Code(description: "too_large")
        /// An admin must demote itself before leaving (MIP-03).
        public static let adminStays = Code(description: "admin_stays")
        /// The group has no other member.
        public static let lastMember = Code(description: "last_member")
        /// The requested state is already in effect.
        public static let unchanged = Code(description: "unchanged")
        /// A named member, peer or proposal does not exist.
        public static let notFound = Code(description: "not_found")
        /// A stored group cannot be read back.
        public static let badStoredForm = Code(description: "bad_stored_form")
        /// A file, a group's picture or its description is invalid or cannot be decrypted (MIP-01, MIP-04).
        public static let badMedia = Code(description: "bad_media")
        /// A device's push token is invalid or cannot be decrypted (MIP-05).
        public static let badPushToken = Code(description: "bad_push_token")
        /// A commit contains proposals that Marmot does not use (external, PSK, ReInit).
        public static let unsupportedProposal = Code(description: "unsupported_proposal")
        /// A commit that was applied before arrives again.
        public static let duplicate = Code(description: "duplicate")
        /// A message of an epoch whose keys have been deleted, or of an abandoned branch.
        public static let pastEpoch = Code(description: "past_epoch")
        /// Another commit for the same epoch takes precedence (MIP-03).
        public static let lostRace = Code(description: "lost_race")
        /// An error of a kind that no layer declares: a defect of this package.
        public static let unexpected = Code(description: "unexpected")
    }

    /// Kind of refusal.
    public let code: Code
    /// The expected and the actual value, for people.
    public let message: String

    /// Creates an error of kind `code` with a text for people.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Compares the codes and ignores the messages.
    public static func == (left: MarmotError, right: MarmotError) -> Bool { left.code == right.code }
    /// Code and message in one line.
    public var description: String { "\(self.code): \(self.message)" }
}
