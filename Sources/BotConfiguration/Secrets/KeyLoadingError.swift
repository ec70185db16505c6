package import Errors

/// The reason why a key or another secret could not be loaded. The message never contains any part of it.
package struct KeyLoadingError: CodedError, Hashable {
    package typealias Code = ErrorCode<KeyLoadingError>

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

extension ErrorCode where Failure == KeyLoadingError {
    /// The file, variable or credential does not exist or cannot be read.
    package static var unreadable: Self { Self("unreadable") }
    /// Others can read the file, or it has another owner.
    package static var permissions: Self { Self("permissions") }
    /// The content is not exactly an nsec, 64 hex digits, an ncryptsec or a line of text, as required.
    package static var malformed: Self { Self("malformed") }
    /// The password does not decrypt the key.
    package static var wrongPassword: Self { Self("wrongPassword") }
    /// A remote signer holds the key.
    package static var remote: Self { Self("remote") }
    /// The command could not be started, failed, or exceeded its deadline.
    package static var commandFailed: Self { Self("commandFailed") }
}
