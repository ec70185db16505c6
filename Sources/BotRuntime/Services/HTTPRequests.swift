import AsyncHTTPClient
package import BotKit
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NetworkAddresses
import Synchronization

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
        let response = CollectedResponse()
        try await stream(request) { response.append($0) }
        return response.value
    }

    package func stream(
        _ request: BotHTTPRequest, to receive: @escaping @Sendable (BotHTTPPart) async throws -> Void
    ) async throws(BotError) {
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
        // The client stops the program at a malformed header.
        guard request.headers.allSatisfy({ Self.isHeader($0.name, $0.value) }) else {
            throw BotError(.requestFailed, "a header has a malformed name or value")
        }
        do {
            try await withDeadline(request.timeout) { try await perform(request, host: bare, receive) }
        } catch let error as BotError {
            throw error
        } catch is DeadlineExceeded {
            throw BotError(.requestFailed, "\(bare) took longer than \(request.timeout)")
        } catch {
            throw BotError(.requestFailed, "\(bare): \(Self.reason(error))")
        }
    }

    private func perform(
        _ request: BotHTTPRequest, host: String, _ receive: @escaping @Sendable (BotHTTPPart) async throws -> Void
    ) async throws {
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
            do { return try await exchange(request, host: host, at: address, receive) } catch {
                // After connecting, the request may have reached the server, which must not receive it twice.
                guard Self.isUnconnected(error) else { throw error }
                failure = error
            }
        }
        throw failure
    }

    private func exchange(
        _ request: BotHTTPRequest, host: String, at address: HostAddress,
        _ receive: @escaping @Sendable (BotHTTPPart) async throws -> Void
    ) async throws {
        var settings = HTTPClient.Configuration()
        settings.httpVersion = .http1Only
        settings.connectionPool.retryConnectionEstablishment = false
        settings.timeout = .init(
            connect: Self.connectTimeout, read: request.maximumSilence.map { TimeAmount($0) })
        try await withPinnedHTTPClient(to: host, at: address, configuration: settings) {
            try await Self.exchange(request, $0, receive)
        }
    }

    private static func exchange(
        _ request: BotHTTPRequest, _ client: HTTPClient,
        _ receive: @escaping @Sendable (BotHTTPPart) async throws -> Void
    ) async throws {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method)
        for header in request.headers { outgoing.headers.add(name: header.name, value: header.value) }
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
        let response = try await client.execute(outgoing, timeout: TimeAmount(request.timeout))
        let announced = response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        guard announced <= request.maximumBytes else { throw tooLong(request) }
        var headers: [String: [String]] = [:]
        for (name, value) in response.headers { headers[name.lowercased(), default: []].append(value) }
        try await receive(.head(BotHTTPHead(status: Int(response.status.code), headers: headers)))
        var rest = request.maximumBytes
        for try await part in response.body {
            guard part.readableBytes <= rest else { throw tooLong(request) }
            rest -= part.readableBytes
            try await receive(.body(Array(part.readableBytesView)))
        }
    }

    /// Whether name and value are permitted (RFC 9110 §5.1, §5.5).
    static func isHeader(_ name: String, _ value: String) -> Bool {
        let isToken = { (byte: UInt8) in
            (0x21...0x7e).contains(byte) && !Array("\"(),/:;<=>?@[\\]{}".utf8).contains(byte)
        }
        return !name.isEmpty && name.utf8.allSatisfy(isToken)
            && value.utf8.allSatisfy { (0x20...0x7e).contains($0) || $0 == 0x09 || $0 >= 0x80 }
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

/// The parts of a response, put together. They arrive one after the other.
private final class CollectedResponse: Sendable {
    private let response = Mutex(BotHTTPResponse(status: 0, body: []))

    var value: BotHTTPResponse { response.withLock { $0 } }

    func append(_ part: BotHTTPPart) {
        response.withLock { response in
            switch part {
            case .head(let head):
                response.status = head.status
                response.headers = head.headers
                let wait = head.headers["retry-after"]?.first.flatMap { UInt16($0) }
                response.retryAfter = wait.map { .seconds(Int64($0)) }
            case .body(let bytes): response.body += bytes
            }
        }
    }
}
