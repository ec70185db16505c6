/// The reason why a worker could not start or had to end.
public struct WorkerError: Error, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The configuration has no account of that name.
        public static let unknownAccount = Code(description: "unknown_account")
        /// No bot of that name is registered.
        public static let unknownBot = Code(description: "unknown_bot")
        /// A bot rejects its settings under `with:`.
        public static let badSettings = Code(description: "bad_settings")
        /// The account's key could not be loaded.
        public static let noKey = Code(description: "no_key")
        /// The account's remote signer refuses this client.
        public static let signerRefused = Code(description: "signer_refused")
        /// The state directory could not be created.
        public static let noStateDirectory = Code(description: "no_state_directory")
    }

    public let code: Code
    /// The problem and how to fix it.
    public let message: String
    public let cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }

    public static func == (left: WorkerError, right: WorkerError) -> Bool { left.code == right.code }
}
