package import AsyncHTTPClient

/// Runs `body` with a client of its own that reaches `host` at one address only, whatever its name leads to by then.
///
/// - Parameter host: As the client reads it from the URL, without brackets.
package func withPinnedHTTPClient<Value: Sendable>(
    to host: String, at address: HostAddress, configuration: HTTPClient.Configuration,
    _ body: (HTTPClient) async throws -> Value
) async throws -> Value {
    var configuration = configuration
    // A redirection would be followed without being judged.
    configuration.redirectConfiguration = .disallow
    configuration.dnsOverride = [host: address.text]
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    do {
        let value = try await body(client)
        try? await client.shutdown()
        return value
    } catch {
        try? await client.shutdown()
        throw error
    }
}
