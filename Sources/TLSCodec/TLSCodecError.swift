/// Reason why bytes are not a valid encoding, and the offset.
public struct TLSCodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure a decoder reports.
    ///
    /// One byte, which keeps the error within the four words that typed throws return in registers; a code with a name
    /// would make five.
    public struct Code: Hashable, Sendable {
        private enum Value {
            case truncated, trailingBytes, nonMinimalLength, lengthTooLarge, unevenVector, invalidValue, unknownType
        }
        private let value: Value

        /// The input ended before the value did.
        public static let truncated = Code(value: .truncated)
        /// The value ended before the input did.
        public static let trailingBytes = Code(value: .trailingBytes)
        /// A length header is longer than its value needs (RFC 9420 §2.1.2).
        public static let nonMinimalLength = Code(value: .nonMinimalLength)
        /// A length header announces more than 2^30 - 1 bytes, or uses the forbidden 8-byte form (RFC 9420 §2.1.2).
        public static let lengthTooLarge = Code(value: .lengthTooLarge)
        /// The elements of a vector do not end where the vector ends.
        public static let unevenVector = Code(value: .unevenVector)
        /// A field holds a value that its type does not allow.
        public static let invalidValue = Code(value: .invalidValue)
        /// A field names a type that the decoder does not know, so that the length of its value is unknown.
        public static let unknownType = Code(value: .unknownType)
    }

    /// Kind of failure, for branching.
    public let code: Code
    /// Bytes from the start of the decoded input to the failing field.
    public let offset: Int
    /// The expected and the actual value, for people.
    public let message: String

    /// Creates an error `offset` bytes from the start of the input; `message` states what was expected and found.
    public init(_ code: Code, offset: Int, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    /// Offset and message in one line.
    public var description: String { "at byte \(self.offset): \(self.message)" }
}
