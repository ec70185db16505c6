/// Timeouts of media servers.
package struct BlossomConfiguration: Hashable, Sendable {
    package var connectTimeout: Duration = .seconds(10)
    /// Time without any byte in either direction.
    package var idleTimeout: Duration = .seconds(30)
    /// Time of one request, until its response head has arrived.
    package var totalTimeout: Duration = .seconds(600)

    package init() {}
}
