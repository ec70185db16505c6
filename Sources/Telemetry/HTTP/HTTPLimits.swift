/// The limits of the endpoint for its clients.
package struct HTTPLimits: Sendable, Hashable {
    /// Maximum number of concurrent connections; further ones are closed at once.
    package var connections = 32
    /// Maximum number of bytes of a request line and headers; a connection carries one request.
    package var requestBytes = 16 * 1024
    /// Deadline from accepting the connection to the complete request.
    package var requestTime = Duration.seconds(5)
    /// Deadline from the request to the route's response.
    package var answerTime = Duration.seconds(30)
    /// Deadline for writing the response.
    package var writeTime = Duration.seconds(10)

    package init() {}
}
