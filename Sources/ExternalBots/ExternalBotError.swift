/// The reason why an external bot could not be created.
package struct ExternalBotError: Error, Hashable, Sendable, CustomStringConvertible {
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// A program was requested by `use:`, but is configured by `command:`.
        package static let notIncluded = Code(description: "not_included")
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code): \(message)" }
}
