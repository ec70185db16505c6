/// Kind of failure of one error type, for programs; codes of two error types cannot be compared.
///
/// An error type declares its codes in an extension with `where Failure ==` that type. They are computed, because a
/// generic type has no static stored properties.
public struct ErrorCode<Failure: Error>: Hashable, Sendable, CustomStringConvertible {
    /// Stable name, suitable for logs and as a counter's label.
    public let description: String

    /// Creates the code with this name.
    public init(_ description: String) {
        self.description = description
    }
}
