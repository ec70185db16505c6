package import AsyncHTTPClient

/// Runs `body` with a dedicated HTTP client that connects to `host` at one address only, whatever the name resolves to.
///
/// - Parameter host: As the client parses it from the URL, without brackets.
package func withPinnedHTTPClient<Value: Sendable>(
    to host: String, at address: HostAddress, configuration: HTTPClient.Configuration,
    _ body: (HTTPClient) async throws -> Value
) async throws -> Value {
    var configuration = configuration
    // The client would follow redirects without an address check.
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
