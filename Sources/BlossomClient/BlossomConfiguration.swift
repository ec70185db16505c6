/// How long media servers may take.
public struct BlossomConfiguration: Hashable, Sendable {
    public var connectTimeout: Duration = .seconds(10)
    /// Without a single byte, either way.
    public var idleTimeout: Duration = .seconds(30)
    /// For one request, until the head of its answer has come.
    public var totalTimeout: Duration = .seconds(600)

    public init() {}
}
