/// The reason why a worker could not start or had to end.
package struct WorkerError: Error, Equatable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// The configuration has no account with that name.
        package static let unknownAccount = Code(description: "unknown_account")
        /// No bot with that name is registered.
        package static let unknownBot = Code(description: "unknown_bot")
        /// A bot rejects its settings under `with:`.
        package static let badSettings = Code(description: "bad_settings")
        /// The account's key could not be loaded.
        package static let noKey = Code(description: "no_key")
        /// The account's remote signer refuses this client.
        package static let signerRefused = Code(description: "signer_refused")
        /// The state directory could not be created.
        package static let noStateDirectory = Code(description: "no_state_directory")
    }

    package let code: Code
    /// The problem and how to fix it.
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }

    package static func == (left: WorkerError, right: WorkerError) -> Bool { left.code == right.code }
}
