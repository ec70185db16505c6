/// Timeouts of media servers.
public struct BlossomConfiguration: Hashable, Sendable {
    public var connectTimeout: Duration = .seconds(10)
    /// Time without any byte in either direction.
    public var idleTimeout: Duration = .seconds(30)
    /// Time of one request, until its response head has arrived.
    public var totalTimeout: Duration = .seconds(600)

    public init() {}
}
