/// Error of this library: a code for programs and a sentence for people.
///
/// Two errors are equal if their codes are: tests and callers branch on `code`, never on `message`. A message never
/// contains a secret.
public struct NostrError: Error, Equatable, CustomStringConvertible {
    /// Kind of error. More may be added: compare with the constants and keep a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, which is that of its constant.
        public let description: String

        /// The text is not JSON: a wrong or missing character, trailing bytes, a bad escape, invalid UTF-8.
        public static let malformedJSON = Code(description: "malformedJSON")
        /// JSON that ends before its value does.
        public static let truncatedJSON = Code(description: "truncatedJSON")
        /// JSON nested deeper than ``JSONValue/maximumDepth``.
        public static let jsonTooDeep = Code(description: "jsonTooDeep")
        /// A number that does not fit its field.
        public static let numberOutOfRange = Code(description: "numberOutOfRange")
        /// Valid JSON of a type other than the field's.
        public static let unexpectedType = Code(description: "unexpectedType")
        /// A member of an object, or an element of a message, is missing.
        public static let missingField = Code(description: "missingField")
        /// A message whose first element is not a known message type.
        public static let unknownMessage = Code(description: "unknownMessage")
        /// A subscription id that is empty or longer than 64 characters.
        public static let invalidSubscription = Code(description: "invalidSubscription")
        /// Not hexadecimal, or not in lower case where NIP-01 requires it.
        public static let invalidHex = Code(description: "invalidHex")
        /// A byte string whose length is not that of the type.
        public static let invalidLength = Code(description: "invalidLength")
        /// The text is not standard, padded Base64.
        public static let invalidBase64 = Code(description: "invalidBase64")
        /// Bech32 with a wrong character, case or checksum, or with invalid content (NIP-19).
        public static let invalidBech32 = Code(description: "invalidBech32")
        /// Valid Bech32 of a kind other than the expected one (NIP-19).
        public static let unexpectedPrefix = Code(description: "unexpectedPrefix")
        /// A public key that is not a point on the curve.
        public static let invalidPublicKey = Code(description: "invalidPublicKey")
        /// A secret key that is zero or not below the order of the curve.
        public static let invalidSecretKey = Code(description: "invalidSecretKey")
        /// The id of an event is not the hash of its content.
        public static let idMismatch = Code(description: "idMismatch")
        /// A signature is invalid.
        public static let badSignature = Code(description: "badSignature")
        /// The text is not a WebSocket URL.
        public static let invalidRelayURL = Code(description: "invalidRelayURL")
        /// An event of a kind other than the operation's.
        public static let unexpectedKind = Code(description: "unexpectedKind")
        /// Text to encrypt that is empty or longer than NIP-44 allows, or a payload of invalid size.
        public static let invalidPayloadSize = Code(description: "invalidPayloadSize")
        /// An encryption version other than 2 (NIP-44).
        public static let unsupportedVersion = Code(description: "unsupportedVersion")
        /// The message authentication code is wrong (NIP-44).
        public static let badMAC = Code(description: "badMAC")
        /// Decrypted text with an invalid length or padding (NIP-44).
        public static let invalidPadding = Code(description: "invalidPadding")
        /// The seal is signed by a key other than the rumor's stated author (NIP-59).
        public static let authorMismatch = Code(description: "authorMismatch")
        /// The password is wrong for an encrypted key, or the encrypted key was altered (NIP-49).
        public static let wrongPassword = Code(description: "wrongPassword")
        /// An encrypted key requires more work and memory than allowed or available (NIP-49).
        public static let tooCostly = Code(description: "tooCostly")
        /// An authentication event for another challenge, relay or time (NIP-42).
        public static let authenticationRejected = Code(description: "authenticationRejected")
        /// Not the address of a remote signer or of its client (NIP-46).
        public static let invalidSignerURL = Code(description: "invalidSignerURL")
        /// A signed event differs from the event to be signed.
        public static let alteredEvent = Code(description: "alteredEvent")
    }

    /// Kind of error, for programs.
    public let code: Code
    /// A sentence for people, without secrets.
    public let message: String

    /// Creates an error; `message` must not contain a secret.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message, as `code: message`.
    public var description: String { "\(code): \(message)" }

    /// Compares the codes only.
    public static func == (left: NostrError, right: NostrError) -> Bool { left.code == right.code }
}
