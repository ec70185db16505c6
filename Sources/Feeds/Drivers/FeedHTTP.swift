package import AsyncHTTPClient
package import FeedRules
import NIOCore
import NIOHTTP1

/// HTTP requests of feeds. The operator names the addresses, so private ones are allowed; redirects are not followed,
/// because headers may contain secrets.
package struct FeedHTTP: Sendable {
    /// The maximum time until the head of a response.
    private static let headTimeout = TimeAmount.seconds(30)

    private let client: HTTPClient

    private init(_ client: HTTPClient) {
        self.client = client
    }

    /// Runs a function with a client of its own.
    ///
    /// - Parameter idleTimeout: The time without any byte of a response after which it fails.
    package static func with<Value: Sendable>(
        idleTimeout: Duration, _ body: (FeedHTTP) async throws -> Value
    ) async throws -> Value {
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.httpVersion = .http1Only
        settings.connectionPool.retryConnectionEstablishment = false
        settings.timeout = .init(connect: .seconds(10), read: TimeAmount(idleTimeout))
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        do {
            let value = try await body(FeedHTTP(client))
            try? await client.shutdown()
            return value
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Sends a GET; returns once the response's head has arrived. Throws `FeedError.Code.unreachable`.
    package func get(_ url: String, headers: [FeedHeader]) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "User-Agent", value: "pikabot")
        for header in headers { request.headers.replaceOrAdd(name: header.name, value: header.value) }
        do {
            return try await client.execute(request, deadline: .now() + Self.headTimeout)
        } catch let error as CancellationError {
            throw error
        } catch { throw Self.failure(error) }
    }

    /// Returns the failure for an error of a request or of a response's body, without the URL, which may contain a secret.
    package static func failure(_ error: any Error) -> any Error {
        switch error {
        case is CancellationError, is FeedError, is FeedPause: error
        case let error as HTTPClientError where error == .cancelled: CancellationError()
        case let error as HTTPClientError: FeedError(.unreachable, error.shortDescription)
        default: FeedError(.unreachable, "no connection (\(type(of: error)))")
        }
    }
}
