public import Errors
import TLSCodec

/// Reason why an MLS operation was refused.
public struct MLSError: CodedError, Equatable {
    /// Kind of refusal, listed in ``Errors/ErrorCode``; callers branch on this, never on the text.
    public typealias Code = ErrorCode<MLSError>

    /// Kind of refusal.
    public let code: Code
    /// The expected and the actual value, for people, with the section that requires it.
    public let message: String

    /// Creates an error of kind `code` with a text for people.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Wraps a decoding failure of `what`. Only proposals have types that are unknown rather than invalid.
    init(decoding what: String, _ error: TLSCodecError) {
        self.init(error.code == .unknownType ? .unsupportedProposal : .malformed, "\(what): \(error)")
    }

    /// Compares the codes and ignores the messages.
    public static func == (left: MLSError, right: MLSError) -> Bool { left.code == right.code }
}

/// The kinds of ``MLSError``.
extension ErrorCode where Failure == MLSError {
    /// The bytes do not decode (RFC 9420 §2.1).
    public static var malformed: Self { Self("malformed") }
    /// The cipher suite is unknown, or its primitives are not available here (RFC 9420 §17.1).
    public static var unsupportedCipherSuite: Self { Self("unsupported_cipher_suite") }
    /// The protocol version is not mls10.
    public static var unsupportedVersion: Self { Self("unsupported_version") }
    /// A key does not decode, or is a low-order point (RFC 9180 §7.1.4).
    public static var invalidKey: Self { Self("invalid_key") }
    /// A signature does not verify (RFC 9420 §5.1.2).
    public static var badSignature: Self { Self("bad_signature") }
    /// An AEAD or HPKE ciphertext cannot be decrypted.
    public static var decryptionFailed: Self { Self("decryption_failed") }
    /// A membership tag does not match (RFC 9420 §6.2).
    public static var badMembershipTag: Self { Self("bad_membership_tag") }
    /// A confirmation tag does not match (RFC 9420 §6.1).
    public static var badConfirmationTag: Self { Self("bad_confirmation_tag") }
    /// The message is for another group.
    public static var wrongGroup: Self { Self("wrong_group") }
    /// The message belongs to an epoch that this member has not reached.
    public static var futureEpoch: Self { Self("future_epoch") }
    /// The message belongs to an epoch whose secrets have been deleted, or is a handshake message of a past epoch.
    public static var pastEpoch: Self { Self("past_epoch") }
    /// The message key has already been used or deleted (RFC 9420 §9.2).
    public static var keyConsumed: Self { Self("key_consumed") }
    /// The generation is further ahead than the limit (RFC 9420 §15.3).
    public static var generationTooFar: Self { Self("generation_too_far") }
    /// The sender is not a member, or may not send this (RFC 9420 §6.1).
    public static var invalidSender: Self { Self("invalid_sender") }
    /// The message was sent by this member; its ratchet key has been deleted.
    public static var ownMessage: Self { Self("own_message") }
    /// A leaf node fails RFC 9420 §7.3.
    public static var invalidLeafNode: Self { Self("invalid_leaf_node") }
    /// A key package fails RFC 9420 §10.1.
    public static var invalidKeyPackage: Self { Self("invalid_key_package") }
    /// A key package's lifetime has ended (RFC 9420 §7.2).
    public static var expired: Self { Self("expired") }
    /// A key package's lifetime has not begun (RFC 9420 §7.2).
    public static var notYetValid: Self { Self("not_yet_valid") }
    /// A ratchet tree fails RFC 9420 §7.8, §7.9 or §12.4.3.1.
    public static var invalidTree: Self { Self("invalid_tree") }
    /// A list of proposals fails RFC 9420 §12.2.
    public static var invalidProposals: Self { Self("invalid_proposals") }
    /// A commit refers to a proposal that never arrived (RFC 9420 §12.4.2).
    public static var unknownProposal: Self { Self("unknown_proposal") }
    /// A commit fails RFC 9420 §12.4.2.
    public static var invalidCommit: Self { Self("invalid_commit") }
    /// A Welcome fails RFC 9420 §12.4.3.1, or is not for this key package.
    public static var invalidWelcome: Self { Self("invalid_welcome") }
    /// A Welcome leads to an epoch above ``Epoch/highestJoinable``.
    public static var epochTooHigh: Self { Self("epoch_too_high") }
    /// A pre-shared key is missing or misused (RFC 9420 §8.4).
    public static var unknownPSK: Self { Self("unknown_psk") }
    /// The operation requires a feature that the protocol allows but this library does not implement.
    public static var unsupported: Self { Self("unsupported") }
    /// A stored group cannot be restored.
    public static var invalidStoredForm: Self { Self("invalid_stored_form") }
    /// A message holds a proposal whose type is unknown, or that the group's ``GroupRules`` exclude (RFC 9420 §12.2).
    public static var unsupportedProposal: Self { Self("unsupported_proposal") }
    /// A proposal or commit has a wire format that the group's ``GroupRules`` exclude.
    public static var excludedWireFormat: Self { Self("excluded_wire_format") }
}
