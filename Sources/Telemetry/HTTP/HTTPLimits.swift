/// The limits of the endpoint for its clients.
public struct HTTPLimits: Sendable, Hashable {
    /// Concurrent connections; further ones are closed at once.
    public var connections = 32
    /// Bytes of a request line and headers; a connection carries one request.
    public var requestBytes = 16 * 1024
    /// From accepting the connection to the complete request.
    public var requestTime = Duration.seconds(5)
    /// From the request to the route's response.
    public var answerTime = Duration.seconds(30)
    /// For writing the response.
    public var writeTime = Duration.seconds(10)

    public init() {}
}
