import AsyncHTTPClient
package import BotKit
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NetworkAddresses

/// HTTP requests for bots, each over its own connections.
///
/// A host name is resolved once, checked, and connected to by address, so that a changed DNS answer cannot redirect the
/// request: it reaches private, link-local and other special addresses only if allowed
/// (``BotHTTPRequest/reachesPrivateAddresses``). Redirects are not followed, and proxies of the environment are
/// ignored.
package struct HTTPRequests: BotHTTP {
    /// The number of addresses of a host that are tried in turn.
    private static let maximumAddresses = 3
    private static let connectTimeout = TimeAmount.seconds(5)

    private let addresses: @Sendable (_ host: String) async -> [HostAddress]

    package init() {
        self.init(addresses: HostAddresses.of)
    }

    init(addresses: @escaping @Sendable (_ host: String) async -> [HostAddress]) {
        self.addresses = addresses
    }

    package func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse {
        guard let url = URL(string: request.url), let scheme = url.scheme?.lowercased(), url.user == nil,
            ["http", "https"].contains(scheme), let host = url.host, !host.isEmpty
        else {
            throw BotError(.requestFailed, "expected an http:// or https:// URL with a host and without a user name")
        }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        // The HTTP client must parse exactly the name that was resolved, so ambiguous characters are rejected.
        guard bare.utf8.allSatisfy(Self.isPlain) else {
            throw BotError(.requestFailed, "the host name may contain only letters, digits, . : - and _")
        }
        do {
            return try await withDeadline(request.timeout) { try await perform(request, host: bare) }
        } catch let error as BotError {
            throw error
        } catch is DeadlineExceeded {
            throw BotError(.requestFailed, "\(bare) took longer than \(request.timeout)")
        } catch {
            throw BotError(.requestFailed, "\(bare): \(Self.reason(error))")
        }
    }

    private func perform(_ request: BotHTTPRequest, host: String) async throws -> BotHTTPResponse {
        let allowed: [HostAddress]
        do {
            allowed = try await AddressGuard.checkedAddresses(
                host, reachesPrivate: request.reachesPrivateAddresses, addresses: addresses)
        } catch {
            switch error {
            case .unknownHost: throw BotError(.requestFailed, "\(host): unknown host")
            case .privateAddress:
                throw BotError(
                    .requestFailed,
                    "\(host) has a private or special address, which bots may contact only if the settings list the host as private"
                )
            }
        }
        var failure: any Error = DeadlineExceeded(limit: request.timeout)
        for address in allowed.prefix(Self.maximumAddresses) {
            do { return try await exchange(request, host: host, at: address) } catch {
                // After connecting, the request may have reached the server, which must not receive it twice.
                guard Self.isUnconnected(error) else { throw error }
                failure = error
            }
        }
        throw failure
    }

    private func exchange(
        _ request: BotHTTPRequest, host: String, at address: HostAddress
    ) async throws -> BotHTTPResponse {
        var settings = HTTPClient.Configuration()
        settings.httpVersion = .http1Only
        settings.connectionPool.retryConnectionEstablishment = false
        settings.timeout = .init(connect: Self.connectTimeout)
        return try await withPinnedHTTPClient(to: host, at: address, configuration: settings) {
            try await Self.exchange(request, $0)
        }
    }

    private static func exchange(_ request: BotHTTPRequest, _ client: HTTPClient) async throws -> BotHTTPResponse {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method)
        for header in request.headers { outgoing.headers.add(name: header.name, value: header.value) }
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
        let response = try await client.execute(outgoing, timeout: TimeAmount(request.timeout))
        let announced = response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        var body: [UInt8] = []
        guard announced <= request.maximumBytes else { throw tooLong(request) }
        for try await part in response.body {
            guard body.count + part.readableBytes <= request.maximumBytes else { throw tooLong(request) }
            body.append(contentsOf: part.readableBytesView)
        }
        let wait = response.headers.first(name: "Retry-After").flatMap { UInt16($0) }
        return BotHTTPResponse(
            status: Int(response.status.code), body: body, retryAfter: wait.map { .seconds(Int64($0)) })
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func tooLong(_ request: BotHTTPRequest) -> BotError {
        BotError(.requestFailed, "the response is longer than \(request.maximumBytes) bytes")
    }

    private static func isUnconnected(_ error: any Error) -> Bool {
        error is NIOConnectionError || error is IOError || error as? HTTPClientError == .connectTimeout
    }

    /// Describes an error without the requested URL, which may contain private data.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case is CancellationError: "cancelled"
        case let error as HTTPClientError: error.shortDescription
        case is NIOConnectionError, is IOError: "no connection"
        default: "the request failed (\(type(of: error)))"
        }
    }
}
