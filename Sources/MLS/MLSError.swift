import TLSCodec

/// Reason why an MLS operation was refused.
public struct MLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Kind of refusal; callers branch on this, never on the text.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Name in snake case, suitable as a counter's label.
        public let description: String

        /// The bytes do not decode (RFC 9420 §2.1).
        public static let malformed = Code(description: "malformed")
        /// The cipher suite is unknown, or its primitives are not available here (RFC 9420 §17.1).
        public static let unsupportedCipherSuite = Code(description: "unsupported_cipher_suite")
        /// The protocol version is not mls10.
        public static let unsupportedVersion = Code(description: "unsupported_version")
        /// A key does not decode, or is a low-order point (RFC 9180 §7.1.4).
        public static let invalidKey = Code(description: "invalid_key")
        /// A signature does not verify (RFC 9420 §5.1.2).
        public static let badSignature = Code(description: "bad_signature")
        /// An AEAD or HPKE ciphertext cannot be decrypted.
        public static let decryptionFailed = Code(description: "decryption_failed")
        /// A membership tag does not match (RFC 9420 §6.2).
        public static let badMembershipTag = Code(description: "bad_membership_tag")
        /// A confirmation tag does not match (RFC 9420 §6.1).
        public static let badConfirmationTag = Code(description: "bad_confirmation_tag")
        /// The message is for another group.
        public static let wrongGroup = Code(description: "wrong_group")
        /// The message belongs to an epoch that this member has not reached.
        public static let futureEpoch = Code(description: "future_epoch")
        /// The message belongs to an epoch whose secrets have been deleted, or is a handshake message of a past epoch.
        public static let pastEpoch = Code(description: "past_epoch")
        /// The message key has already been used or deleted (RFC 9420 §9.2).
        public static let keyConsumed = Code(description: "key_consumed")
        /// The generation is further ahead than the limit (RFC 9420 §15.3).
        public static let generationTooFar = Code(description: "generation_too_far")
        /// The sender is not a member, or may not send this (RFC 9420 §6.1).
        public static let invalidSender = Code(description: "invalid_sender")
        /// The message was sent by this member; its ratchet key has been deleted.
        public static let ownMessage = Code(description: "own_message")
        /// A leaf node fails RFC 9420 §7.3.
        public static let invalidLeafNode = Code(description: "invalid_leaf_node")
        /// A key package fails RFC 9420 §10.1.
        public static let invalidKeyPackage = Code(description: "invalid_key_package")
        /// A key package's lifetime has ended (RFC 9420 §7.2).
        public static let expired = Code(description: "expired")
        /// A key package's lifetime has not begun (RFC 9420 §7.2).
        public static let notYetValid = Code(description: "not_yet_valid")
        /// A ratchet tree fails RFC 9420 §7.8, §7.9 or §12.4.3.1.
        public static let invalidTree = Code(description: "invalid_tree")
        /// A list of proposals fails RFC 9420 §12.2.
        public static let invalidProposals = Code(description: "invalid_proposals")
        /// A commit refers to a proposal that never arrived (RFC 9420 §12.4.2).
        public static let unknownProposal = Code(description: "unknown_proposal")
        /// A commit fails RFC 9420 §12.4.2.
        public static let invalidCommit = Code(description: "invalid_commit")
        /// A Welcome fails RFC 9420 §12.4.3.1, or is not for this key package.
        public static let invalidWelcome = Code(description: "invalid_welcome")
        /// A Welcome leads to an epoch above ``Epoch/highestJoinable``.
        public static let epochTooHigh = Code(description: "epoch_too_high")
        /// A pre-shared key is missing or misused (RFC 9420 §8.4).
        public static let unknownPSK = Code(description: "unknown_psk")
        /// The operation requires a feature that the protocol allows but this library does not implement.
        public static let unsupported = Code(description: "unsupported")
        /// A stored group cannot be restored.
        public static let invalidStoredForm = Code(description: "invalid_stored_form")
    }

    /// Kind of refusal.
    public let code: Code
    /// The expected and the actual value, for people, with the section that requires it.
    public let message: String

    /// Creates an error of kind `code` with a text for people.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Wraps a decoding failure of `what`.
    init(decoding what: String, _ error: TLSCodecError) {
        self.init(.malformed, "\(what): \(error)")
    }

    /// Compares the codes and ignores the messages.
    public static func == (left: MLSError, right: MLSError) -> Bool { left.code == right.code }

    /// Code and message in one line.
    public var description: String { "\(self.code): \(self.message)" }
}
