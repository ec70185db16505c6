/// Why a key or another secret could not be had from where its reference says it is. The message never holds any of it.
public struct KeyLoadingError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The file, variable or credential is not there or cannot be read.
        public static let unreadable = Code(description: "unreadable")
        /// Others could read the file, or it belongs to somebody else.
        public static let permissions = Code(description: "permissions")
        /// What is there is not an nsec, 64 hex digits, an ncryptsec or a line of text, whichever was asked for, and
        /// nothing else.
        public static let malformed = Code(description: "malformed")
        /// The password does not open the encrypted key.
        public static let wrongPassword = Code(description: "wrongPassword")
        /// The key is kept by a remote signer.
        public static let remote = Code(description: "remote")
        /// The command could not be run, failed, or took too long.
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
