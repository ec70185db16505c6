import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Small HTTP requests to servers under examination.
///
/// ``shutdown()`` must be called before the last reference is released.
package final class HTTPProbe: Sendable {
    struct Response: Sendable {
        let status: Int
        let body: [UInt8]
        /// The server's clock minus the local clock at the middle of the exchange, in seconds.
        let clockOffset: Double?
    }

    /// Maximum number of bytes read of a response.
    static let maximumBytes = 64 << 10

    private let client: HTTPClient
    private let limit: Duration

    /// - Parameter limit: Timeout of one request.
    package convenience init(limit: Duration = .seconds(10)) {
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .follow(max: 3, allowCycles: false)
        self.init(settings, limit: limit)
    }

    /// Connects to one host at one of its addresses only, and follows no redirects.
    convenience init(host: String, at address: String, trustRootFiles: [String], limit: Duration) throws(NetworkError) {
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.dnsOverride = [host: address]
        settings.httpVersion = .http1Only
        settings.tlsConfiguration = try TLSReach.settings(trustRootFiles)
        self.init(settings, limit: limit)
    }

    private init(_ base: HTTPClient.Configuration, limit: Duration) {
        var settings = base
        settings.connectionPool.retryConnectionEstablishment = false
        settings.timeout = .init(connect: TimeAmount(limit), read: TimeAmount(limit))
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        self.limit = limit
    }

    package func shutdown() async throws { try await client.shutdown() }

    /// Throws ``NetworkError``.
    func request(_ address: String, _ method: HTTPMethod = .GET, accept: String? = nil) async throws(NetworkError)
        -> Response
    {
        var request = HTTPClientRequest(url: address)
        request.method = method
        if let accept { request.headers.add(name: "Accept", value: accept) }
        do {
            // The client itself has no timeout for a body that trickles in.
            return try await withTimeout(limit) { [client, limit, request] in
                try await Self.exchange(request, client, limit)
            }
        } catch {
            throw NetworkError(error)
        }
    }

    private static func exchange(
        _ request: HTTPClientRequest, _ client: HTTPClient, _ limit: Duration
    ) async throws -> Response {
        let began = Date().timeIntervalSince1970
        let response = try await client.execute(request, timeout: TimeAmount(limit))
        let middle = (began + Date().timeIntervalSince1970) / 2
        let body = try await response.body.collect(upTo: maximumBytes)
        return Response(
            status: Int(response.status.code), body: Array(body.readableBytesView),
            clockOffset: response.headers.first(name: "Date").flatMap(time).map { $0 - middle })
    }

    /// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7) into seconds since 1970. Adds half a
    /// second, because the date was truncated to seconds.
    static func time(_ text: String) -> Double? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text).map { $0.timeIntervalSince1970 + 0.5 }
    }
}
