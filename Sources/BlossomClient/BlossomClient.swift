import AsyncHTTPClient
import Errors
import Foundation
package import Logging
import NIOCore
import NIOHTTP1
package import NetworkAddresses
import Nostr
package import PikaCore

/// HTTP client of media servers: BUD-01 (download) and BUD-02 (upload).
///
/// ``shutdown()`` must be called before the last reference is released. Other parties choose the download URLs, so
/// every address and redirect is checked before each request; uploads go to servers that the account chose.
package final class BlossomClient: MediaStore {
    private static let maximumRedirects = 5
    /// Maximum number of bytes of a descriptor, which has a few hundred.
    private static let maximumDescriptorBytes = 64 << 10

    /// Maximum number of addresses of one host that are tried, one after the other.
    private static let maximumAddresses = 3

    private let client: HTTPClient
    private let settings: HTTPClient.Configuration
    private let addresses: AddressGuard
    private let configuration: BlossomConfiguration
    private let logger: Logger

    /// - Parameter addresses: Decides which addresses files may be downloaded from.
    package init(
        addresses: AddressGuard, configuration: BlossomConfiguration = BlossomConfiguration(), logger: Logger
    ) {
        var settings = HTTPClient.Configuration()
        // Redirects are followed here, so that each address is checked and the authorization goes to no other server.
        settings.redirectConfiguration = .disallow
        // Fail at once if a server refuses connections, so that the next one is tried.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.timeout = .init(
            connect: TimeAmount(configuration.connectTimeout), read: TimeAmount(configuration.idleTimeout),
            write: TimeAmount(configuration.idleTimeout))
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        self.settings = settings
        self.addresses = addresses
        self.configuration = configuration
        self.logger = logger
    }

    /// Closes all connections; calls in flight fail.
    package func shutdown() async throws { try await self.client.shutdown() }

    package func setConfiguredServers(_ servers: [MediaURL]) async {
        self.addresses.setConfiguredServers(servers.map { ($0.host, $0.port) })
    }

    package func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob {
        var request = HTTPClientRequest(url: server.upload.description)
        request.method = .PUT
        request.headers.add(name: "Authorization", value: BlossomAuthorization.header(blob.authorization))
        request.headers.add(name: "Content-Type", value: blob.contentType)
        request.headers.add(name: "X-SHA-256", value: blob.hash.hex)
        request.body = .bytes(ByteBuffer(bytes: blob.bytes))
        let response = try await self.execute(request, self.client)
        guard (200...201).contains(response.status.code) else { throw Self.refusal(response) }
        let descriptor = try await Self.collect(response, limit: Self.maximumDescriptorBytes)
        guard let json = try? JSONValue(json: descriptor), let url = json["url"]?.string,
            let hash = json["sha256"]?.string.flatMap({ Bytes32(hex: $0) })
        else {
            throw BlossomError(.badAnswer, "the response is not a blob descriptor with `url` and `sha256` (BUD-02)")
        }
        return StoredBlob(url: url, hash: hash)
    }

    package func download(_ url: MediaURL, limit: Int) async throws -> [UInt8] {
        var address = url
        for _ in 0...Self.maximumRedirects {
            switch try await self.get(address, limit: limit) {
            case .bytes(let bytes): return bytes
            case .redirection(let next): address = next
            }
        }
        throw BlossomError(.badAnswer, "more than \(Self.maximumRedirects) redirects")
    }

    private enum Answer {
        case bytes([UInt8])
        case redirection(MediaURL)
    }

    /// Sends a GET to an address that the guard allows.
    private func get(_ address: MediaURL, limit: Int) async throws -> Answer {
        let allowed: AddressGuard.AllowedAddresses
        do { allowed = try await self.addresses.allowedAddresses(of: address.host, port: address.port) } catch {
            throw BlossomError(.notAllowed, "\(address.host): \(error)", cause: error)
        }
        guard case .only(let found) = allowed else { return try await self.get(address, limit: limit, self.client) }
        // The client must use exactly the name that was resolved.
        guard let host = URL(string: address.description)?.host, host.lowercased() == address.host else {
            throw BlossomError(.notAllowed, "the URL's host is ambiguous")
        }
        var failure: any Error = AddressRefusal.unknownHost
        for candidate in found.prefix(Self.maximumAddresses) {
            do {
                return try await withPinnedHTTPClient(to: host, at: candidate, configuration: self.settings) { client in
                    try await self.get(address, limit: limit, client)
                }
            } catch let error as BlossomError where error.code == .unreachable { failure = error }
        }
        throw failure
    }

    private func get(_ address: MediaURL, limit: Int, _ client: HTTPClient) async throws -> Answer {
        let response = try await self.execute(HTTPClientRequest(url: address.description), client)
        switch response.status.code {
        case 200: return .bytes(try await Self.collect(response, limit: limit))
        case 301, 302, 303, 307, 308: return .redirection(try Self.redirection(response, from: address))
        default: throw Self.refusal(response)
        }
    }

    private func execute(_ request: HTTPClientRequest, _ client: HTTPClient) async throws -> HTTPClientResponse {
        do {
            return try await client.execute(
                request, timeout: TimeAmount(self.configuration.totalTimeout), logger: self.logger)
        } catch let error as CancellationError {
            throw error
        } catch { throw BlossomError(.unreachable, "\(error)", cause: error) }
    }

    /// Collects the body; throws if it has more than `limit` bytes, announced or sent.
    private static func collect(_ response: HTTPClientResponse, limit: Int) async throws -> [UInt8] {
        let announced = response.headers.first(name: "Content-Length").flatMap { Int($0) }
        guard announced ?? 0 <= limit else { throw Self.tooLarge(limit) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(announced ?? 0)
        do {
            for try await part in response.body {
                guard bytes.count + part.readableBytes <= limit else { throw Self.tooLarge(limit) }
                bytes.append(contentsOf: part.readableBytesView)
            }
        } catch let error as BlossomError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch { throw BlossomError(.unreachable, "the response ended early: \(error)", cause: error) }
        return bytes
    }

    private static func tooLarge(_ limit: Int) -> BlossomError {
        BlossomError(.tooLarge, "the response exceeds \(limit) bytes")
    }

    private static func refusal(_ response: HTTPClientResponse) -> BlossomError {
        let reason = response.headers.first(name: "X-Reason").map { ": " + $0.prefix(200) } ?? ""
        return BlossomError(.refused, "\(response.status.code) \(response.status.reasonPhrase)\(reason)")
    }

    /// Returns the redirect's target: http or https, and never from https to http.
    private static func redirection(_ response: HTTPClientResponse, from address: MediaURL) throws -> MediaURL {
        guard let location = response.headers.first(name: "Location"), location.utf8.count <= RelayURL.maximumLength,
            let target = URL(string: location, relativeTo: URL(string: address.description))?.absoluteString
        else { throw BlossomError(.badAnswer, "a redirect without a valid `Location`") }
        let next = try MediaURL(target)
        let isSecure = { (url: MediaURL) in url.description.lowercased().hasPrefix("https:") }
        guard isSecure(next) || !isSecure(address) else {
            throw BlossomError(.badAnswer, "a redirect from https to http")
        }
        return next
    }
}
