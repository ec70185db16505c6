/// The reason why an external bot could not be created.
public struct ExternalBotError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// A program was requested by `use:`, but is configured by `command:`.
        public static let notIncluded = Code(description: "not_included")
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}
