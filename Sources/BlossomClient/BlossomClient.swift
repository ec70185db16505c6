import AsyncHTTPClient
import Foundation
public import Logging
import NIOCore
import NIOHTTP1
import Nostr
public import PikaCore

/// Media servers over HTTP: BUD-01 (download) and BUD-02 (upload).
///
/// ``shutdown()`` must be called before the last reference goes. Addresses are asked whatever network they lead to;
/// see ``MediaURL``.
public final class BlossomClient: MediaStore {
    private static let mostRedirects = 5
    /// A descriptor is a few hundred bytes.
    private static let mostDescriptorBytes = 64 << 10

    private let client: HTTPClient
    private let configuration: BlossomConfiguration
    private let logger: Logger

    public init(configuration: BlossomConfiguration = BlossomConfiguration(), logger: Logger) {
        var settings = HTTPClient.Configuration()
        // Followed here, so that every address is looked at before it is asked, and no authorization goes elsewhere.
        settings.redirectConfiguration = .disallow
        // A server that refuses connections gives way to the next one at once.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.timeout = .init(
            connect: TimeAmount(configuration.connectTimeout), read: TimeAmount(configuration.idleTimeout),
            write: TimeAmount(configuration.idleTimeout))
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        self.configuration = configuration
        self.logger = logger
    }

    /// Closes all connections; calls under way fail.
    public func shutdown() async throws { try await self.client.shutdown() }

    public func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob {
        var request = HTTPClientRequest(url: server.upload.description)
        request.method = .PUT
        request.headers.add(name: "Authorization", value: BlossomAuthorization.header(blob.authorization))
        request.headers.add(name: "Content-Type", value: blob.contentType)
        request.headers.add(name: "X-SHA-256", value: blob.hash.hex)
        request.body = .bytes(ByteBuffer(bytes: blob.bytes))
        let response = try await self.execute(request)
        guard (200...201).contains(response.status.code) else { throw Self.refusal(response) }
        let descriptor = try await Self.collect(response, limit: Self.mostDescriptorBytes)
        guard let json = try? JSONValue(json: descriptor), let url = json["url"]?.string,
            let hash = json["sha256"]?.string.flatMap({ Bytes32(hex: $0) })
        else { throw BlossomError(.badAnswer, "the server's answer is no descriptor with url and sha256 (BUD-02)") }
        return StoredBlob(url: url, hash: hash)
    }

    public func download(_ url: MediaURL, limit: Int) async throws -> [UInt8] {
        var address = url
        for _ in 0...Self.mostRedirects {
            let response = try await self.execute(HTTPClientRequest(url: address.description))
            switch response.status.code {
            case 200: return try await Self.collect(response, limit: limit)
            case 301, 302, 303, 307, 308: address = try Self.redirection(response, from: address)
            default: throw Self.refusal(response)
            }
        }
        throw BlossomError(.badAnswer, "more than \(Self.mostRedirects) redirections")
    }

    private func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        do {
            return try await self.client.execute(
                request, timeout: TimeAmount(self.configuration.totalTimeout), logger: self.logger)
        } catch let error as CancellationError {
            throw error
        } catch { throw BlossomError(.unreachable, "\(error)", cause: error) }
    }

    /// At most `limit` bytes, however many the server announces or sends.
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
        } catch { throw BlossomError(.unreachable, "the answer ended early: \(error)", cause: error) }
        return bytes
    }

    private static func tooLarge(_ limit: Int) -> BlossomError {
        BlossomError(.tooLarge, "the answer has more than \(limit) bytes")
    }

    private static func refusal(_ response: HTTPClientResponse) -> BlossomError {
        let reason = response.headers.first(name: "X-Reason").map { ": " + $0.prefix(200) } ?? ""
        return BlossomError(.refused, "\(response.status.code) \(response.status.reasonPhrase)\(reason)")
    }

    /// Where the server sends us: http or https, and never from https to http.
    private static func redirection(_ response: HTTPClientResponse, from address: MediaURL) throws -> MediaURL {
        guard let location = response.headers.first(name: "Location"), location.utf8.count <= RelayURL.maximumLength,
            let target = URL(string: location, relativeTo: URL(string: address.description))?.absoluteString
        else { throw BlossomError(.badAnswer, "a redirection without an address") }
        let next = try MediaURL(target)
        let isSecure = { (url: MediaURL) in url.description.lowercased().hasPrefix("https:") }
        guard isSecure(next) || !isSecure(address) else {
            throw BlossomError(.badAnswer, "a redirection from https to http")
        }
        return next
    }
}
