public import Errors

/// Error of this library: a code for programs and a sentence for people.
///
/// Two errors are equal if their codes are: tests and callers branch on `code`, never on `message`. A message never
/// contains a secret.
public struct NostrError: CodedError, Equatable {
    /// Kind of error, listed in ``Errors/ErrorCode``. More may be added: compare with the constants and keep a default.
    public typealias Code = ErrorCode<NostrError>

    /// Kind of error, for programs.
    public let code: Code
    /// A sentence for people, without secrets.
    public let message: String

    /// Creates an error; `message` must not contain a secret.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Compares the codes only.
    public static func == (left: NostrError, right: NostrError) -> Bool { left.code == right.code }
}

/// The kinds of ``NostrError``.
extension ErrorCode where Failure == NostrError {
    /// The text is not JSON: a wrong or missing character, trailing bytes, a bad escape, invalid UTF-8.
    public static var malformedJSON: Self { Self("malformedJSON") }
    /// JSON that ends before its value does.
    public static var truncatedJSON: Self { Self("truncatedJSON") }
    /// JSON nested deeper than ``JSONValue/maximumDepth``.
    public static var jsonTooDeep: Self { Self("jsonTooDeep") }
    /// A number that does not fit its field.
    public static var numberOutOfRange: Self { Self("numberOutOfRange") }
    /// Valid JSON of a type other than the field's.
    public static var unexpectedType: Self { Self("unexpectedType") }
    /// A member of an object, or an element of a message, is missing.
    public static var missingField: Self { Self("missingField") }
    /// A message whose first element is not a known message type.
    public static var unknownMessage: Self { Self("unknownMessage") }
    /// A subscription id that is empty or longer than 64 characters.
    public static var invalidSubscription: Self { Self("invalidSubscription") }
    /// Not hexadecimal, or not in lower case where NIP-01 requires it.
    public static var invalidHex: Self { Self("invalidHex") }
    /// A byte string whose length is not that of the type.
    public static var invalidLength: Self { Self("invalidLength") }
    /// The text is not standard, padded Base64.
    public static var invalidBase64: Self { Self("invalidBase64") }
    /// Bech32 with a wrong character, case or checksum, or with invalid content (NIP-19).
    public static var invalidBech32: Self { Self("invalidBech32") }
    /// Valid Bech32 of a kind other than the expected one (NIP-19).
    public static var unexpectedPrefix: Self { Self("unexpectedPrefix") }
    /// A public key that is not a point on the curve.
    public static var invalidPublicKey: Self { Self("invalidPublicKey") }
    /// A secret key that is zero or not below the order of the curve.
    public static var invalidSecretKey: Self { Self("invalidSecretKey") }
    /// The id of an event is not the hash of its content.
    public static var idMismatch: Self { Self("idMismatch") }
    /// A signature is invalid.
    public static var badSignature: Self { Self("badSignature") }
    /// The text is not a WebSocket URL.
    public static var invalidRelayURL: Self { Self("invalidRelayURL") }
    /// An event of a kind other than the operation's.
    public static var unexpectedKind: Self { Self("unexpectedKind") }
    /// Text to encrypt that is empty or longer than NIP-44 allows, or a payload of invalid size.
    public static var invalidPayloadSize: Self { Self("invalidPayloadSize") }
    /// An encryption version other than 2 (NIP-44).
    public static var unsupportedVersion: Self { Self("unsupportedVersion") }
    /// The message authentication code is wrong (NIP-44).
    public static var badMAC: Self { Self("badMAC") }
    /// Decrypted text with an invalid length or padding (NIP-44).
    public static var invalidPadding: Self { Self("invalidPadding") }
    /// The seal is signed by a key other than the rumor's stated author (NIP-59).
    public static var authorMismatch: Self { Self("authorMismatch") }
    /// A gift wrap is addressed to another account, or to several.
    public static var unexpectedRecipient: Self { Self("unexpectedRecipient") }
    /// The password is wrong for an encrypted key, or the encrypted key was altered (NIP-49).
    public static var wrongPassword: Self { Self("wrongPassword") }
    /// An encrypted key requires more work and memory than allowed or available (NIP-49).
    public static var tooCostly: Self { Self("tooCostly") }
    /// An authentication event for another challenge, relay or time (NIP-42).
    public static var authenticationRejected: Self { Self("authenticationRejected") }
    /// Not the address of a remote signer or of its client (NIP-46).
    public static var invalidSignerURL: Self { Self("invalidSignerURL") }
    /// A signed event differs from the event to be signed.
    public static var alteredEvent: Self { Self("alteredEvent") }
}
