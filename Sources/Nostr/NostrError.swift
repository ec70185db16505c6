/// Everything this library refuses, as a code for programs and a sentence for people.
///
/// Two errors are equal when their codes are: tests and callers decide by `code`, never by `message`.
/// A message never holds a secret.
public struct NostrError: Error, Equatable, CustomStringConvertible {
    /// What went wrong. Open for growth: compare with the constants, keep a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// Text that is not JSON at all: a wrong or missing character, trailing bytes, a bad escape, invalid UTF-8.
        public static let malformedJSON = Code(description: "malformedJSON")
        /// JSON that ends before its value does.
        public static let truncatedJSON = Code(description: "truncatedJSON")
        /// JSON nested deeper than ``JSONValue/maximumDepth``.
        public static let jsonTooDeep = Code(description: "jsonTooDeep")
        /// A number that does not fit its field.
        public static let numberOutOfRange = Code(description: "numberOutOfRange")
        /// Sound JSON of another type than the field wants.
        public static let unexpectedType = Code(description: "unexpectedType")
        /// A member of an object, or an element of a message, is not there.
        public static let missingField = Code(description: "missingField")
        /// A message whose first element names no known message.
        public static let unknownMessage = Code(description: "unknownMessage")
        /// A subscription id that is empty or longer than 64 characters.
        public static let invalidSubscription = Code(description: "invalidSubscription")
        /// Not hexadecimal, or not in the lower case NIP-01 asks for.
        public static let invalidHex = Code(description: "invalidHex")
        /// A byte string of another length than the type has.
        public static let invalidLength = Code(description: "invalidLength")
        /// Not standard, padded Base64.
        public static let invalidBase64 = Code(description: "invalidBase64")
        /// Bech32 with a wrong character, case or checksum, or an impossible content (NIP-19).
        public static let invalidBech32 = Code(description: "invalidBech32")
        /// Sound Bech32 of another kind than asked for (NIP-19).
        public static let unexpectedPrefix = Code(description: "unexpectedPrefix")
        /// A public key that is no point of the curve.
        public static let invalidPublicKey = Code(description: "invalidPublicKey")
        /// A secret key that is zero or not below the order of the curve.
        public static let invalidSecretKey = Code(description: "invalidSecretKey")
        /// The id of an event is not the hash of its content.
        public static let idMismatch = Code(description: "idMismatch")
        /// A signature that does not hold.
        public static let badSignature = Code(description: "badSignature")
        /// Not a WebSocket address.
        public static let invalidRelayURL = Code(description: "invalidRelayURL")
        /// An event of another kind than the operation works on.
        public static let unexpectedKind = Code(description: "unexpectedKind")
        /// Text to encrypt that is empty or longer than NIP-44 takes, or a payload of an impossible size.
        public static let invalidPayloadSize = Code(description: "invalidPayloadSize")
        /// An encryption version other than 2 (NIP-44).
        public static let unsupportedVersion = Code(description: "unsupportedVersion")
        /// The message authentication code does not hold (NIP-44).
        public static let badMAC = Code(description: "badMAC")
        /// Decrypted text with an impossible length or padding (NIP-44).
        public static let invalidPadding = Code(description: "invalidPadding")
        /// The seal is signed by another key than the rumor claims as its author (NIP-59).
        public static let authorMismatch = Code(description: "authorMismatch")
        /// A password that does not open an encrypted key, or a key that was altered (NIP-49).
        public static let wrongPassword = Code(description: "wrongPassword")
        /// An encrypted key that asks for more work and memory than is given, or than there is (NIP-49).
        public static let tooCostly = Code(description: "tooCostly")
        /// An authentication event for another challenge, relay or time (NIP-42).
        public static let authenticationRejected = Code(description: "authenticationRejected")
        /// Not the address of a remote signer or of its client (NIP-46).
        public static let invalidSignerURL = Code(description: "invalidSignerURL")
        /// A signed event that is not the one that was to be signed.
        public static let alteredEvent = Code(description: "alteredEvent")
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }

    public static func == (left: NostrError, right: NostrError) -> Bool { left.code == right.code }
}
