/// How much the endpoint takes of those who connect.
public struct HTTPLimits: Sendable, Hashable {
    /// Connections at the same time; further ones are closed at once.
    public var connections = 32
    /// Bytes of a request, line and headers; a connection carries one request.
    public var requestBytes = 16 * 1024
    /// From the connection to the whole request.
    public var requestTime = Duration.seconds(5)
    /// From the request to the answer of a route.
    public var answerTime = Duration.seconds(30)
    /// For the writing of the answer.
    public var writeTime = Duration.seconds(10)

    public init() {}
}
