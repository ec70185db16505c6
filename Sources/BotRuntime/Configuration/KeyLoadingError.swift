/// The reason why a key or another secret could not be loaded. The message never contains any part of it.
public struct KeyLoadingError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The file, variable or credential does not exist or cannot be read.
        public static let unreadable = Code(description: "unreadable")
        /// Others can read the file, or it has another owner.
        public static let permissions = Code(description: "permissions")
        /// The content is not exactly an nsec, 64 hex digits, an ncryptsec or a line of text, as required.
        public static let malformed = Code(description: "malformed")
        /// The password does not decrypt the key.
        public static let wrongPassword = Code(description: "wrongPassword")
        /// A remote signer holds the key.
        public static let remote = Code(description: "remote")
        /// The command could not be started, failed, or exceeded its deadline.
        public static let commandFailed = Code(description: "commandFailed")
    }

    public let code: Code
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
