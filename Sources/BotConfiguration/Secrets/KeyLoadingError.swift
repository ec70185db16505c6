/// The reason why a key or another secret could not be loaded. The message never contains any part of it.
package struct KeyLoadingError: Error, Hashable, Sendable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// The file, variable or credential does not exist or cannot be read.
        package static let unreadable = Code(description: "unreadable")
        /// Others can read the file, or it has another owner.
        package static let permissions = Code(description: "permissions")
        /// The content is not exactly an nsec, 64 hex digits, an ncryptsec or a line of text, as required.
        package static let malformed = Code(description: "malformed")
        /// The password does not decrypt the key.
        package static let wrongPassword = Code(description: "wrongPassword")
        /// A remote signer holds the key.
        package static let remote = Code(description: "remote")
        /// The command could not be started, failed, or exceeded its deadline.
        package static let commandFailed = Code(description: "commandFailed")
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
