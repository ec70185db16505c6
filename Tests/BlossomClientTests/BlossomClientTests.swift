import Crypto
import EmbeddedRelay
import Errors
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import BlossomClient

/// A client for one test.
@discardableResult
private func withClient<Value: Sendable>(
    idle: Duration = .seconds(10), addresses: AddressGuard = .unrestricted,
    _ body: (BlossomClient) async throws -> Value
) async throws -> Value {
    var configuration = BlossomConfiguration()
    configuration.idleTimeout = idle
    let client = BlossomClient(addresses: addresses, configuration: configuration, logger: Logger(label: "test"))
    do {
        let value = try await body(client)
        try await client.shutdown()
        return value
    } catch {
        try await client.shutdown()
        throw error
    }
}

/// An upload that a server accepts, or not if it is for other bytes.
private func upload(_ bytes: [UInt8], authorizing other: [UInt8]? = nil) throws -> MediaUpload {
    var generator = SystemRandomNumberGenerator()
    let key = KeyPair.generate(using: &generator)
    func hash(_ bytes: [UInt8]) throws -> Bytes32 { try #require(Bytes32(Array(SHA256.hash(data: bytes)))) }
    let event = BlossomAuthorization.event(
        .upload, hashes: [try hash(other ?? bytes)], content: "test", by: key, now: 1_700_000_000, lifetime: 60,
        using: &generator)
    return MediaUpload(
        bytes: bytes, hash: try hash(bytes), contentType: "application/octet-stream", authorization: event)
}

@Suite(.live)
struct BlossomClientTests {
    private func withServer<Value: Sendable>(
        blobBytes: Int? = nil, _ body: (BlossomClient, MediaURL) async throws -> Value
    ) async throws -> Value {
        var configuration = RelayConfiguration()
        if let blobBytes { configuration.limits.blobBytes = blobBytes }
        return try await withEmbeddedRelay(configuration: configuration, now: { 1_700_000_000 }) { _, address in
            let server = try MediaURL("http" + address.dropFirst("ws".count))
            return try await withClient { try await body($0, server) }
        }
    }

    @Test func uploadsRoundTrip() async throws {
        try await withServer { client, server in
            let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let blob = try upload(bytes)
            let stored = try await client.upload(blob, to: server)
            #expect(stored.hash == blob.hash)
            #expect(try await client.download(try MediaURL(stored.url), limit: bytes.count) == bytes)
            #expect(try await client.download(server.blob(blob.hash), limit: bytes.count) == bytes)
            await #expect(throws: BlossomError(.tooLarge, "")) {
                try await client.download(server.blob(blob.hash), limit: bytes.count - 1)
            }
        }
    }

    @Test func refusalsIncludeServerReason() async throws {
        try await withServer(blobBytes: 10) { client, server in
            let other = await #expect(throws: BlossomError(.refused, "")) {
                try await client.upload(try upload([1], authorizing: [2]), to: server)
            }
            #expect(other?.message.hasPrefix("403 Forbidden: the authorization does not allow file") == true)
            let tooLarge = await #expect(throws: BlossomError.self) {
                try await client.upload(try upload([UInt8](repeating: 0, count: 11)), to: server)
            }
            #expect(tooLarge?.message.contains("413") == true)
            // More than fits into the socket's buffers: the refusal must arrive nevertheless.
            let large = await #expect(throws: BlossomError.self) {
                try await client.upload(try upload([UInt8](repeating: 0, count: 8 << 20)), to: server)
            }
            #expect(large != nil)
            let unknown = try #require(Bytes32([UInt8](repeating: 0, count: 32)))
            let missing = await #expect(throws: BlossomError(.refused, "")) {
                try await client.download(server.blob(unknown), limit: 10)
            }
            #expect(missing?.message == "404 Not Found: no file has this hash")
        }
    }

    @Test func stopsReadingAtTheSizeLimit() async throws {
        let endless = "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 1 << 20)
        try await withCannedServer(endless) { server in
            try await withClient { client in
                await #expect(throws: BlossomError(.tooLarge, "")) { try await client.download(server, limit: 1000) }
            }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", BlossomError.Code.unreachable),
        ("nonsense\r\n\r\n", .unreachable), ("", .unreachable),
        ("HTTP/1.1 204 No Content\r\n\r\n", .refused),
        ("HTTP/1.1 206 Partial Content\r\nContent-Length: 1\r\n\r\nx", .refused),
        ("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", .badAnswer),
        ("HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", .badAnswer),
    ])
    func unexpectedResponsesFail(answer: String, code: BlossomError.Code) async throws {
        try await withCannedServer(answer) { server in
            try await withClient { client in
                let error = await #expect(throws: BlossomError.self) { try await client.download(server, limit: 1000) }
                #expect(error?.code == code)
            }
        }
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://x.example/y", "http://user@x.example/", "gopher:x"])
    func followsRedirectsToMediaURLsOnly(location: String) async throws {
        try await withCannedServer("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n") {
            server in
            try await withClient { client in
                let error = await #expect(throws: AppCoreError.self) { try await client.download(server, limit: 10) }
                #expect(error?.code == .badAddress)
            }
        }
    }

    /// Members choose the URLs of their files.
    @Test func refusesPrivateAddresses() async throws {
        try await withServer { _, server in
            try await withClient(addresses: AddressGuard(allowsPrivate: false)) { client in
                let stored = try await client.upload(try upload([1, 2, 3]), to: server)
                let url = try MediaURL(stored.url)
                await #expect(throws: BlossomError(.notAllowed, "")) { try await client.download(url, limit: 3) }
                await client.setConfiguredServers([server])
                #expect(try await client.download(url, limit: 3) == [1, 2, 3])
                await client.setConfiguredServers([])
                await #expect(throws: BlossomError(.notAllowed, "")) { try await client.download(url, limit: 3) }
            }
        }
    }

    @Test func refusesRedirectsToPrivateAddresses() async throws {
        try await withServer { open, server in
            let stored = try await open.upload(try upload([1, 2, 3]), to: server)
            let answer = "HTTP/1.1 307 Moved\r\nLocation: \(stored.url)\r\nContent-Length: 0\r\n\r\n"
            try await withCannedServer(answer) { other in
                try await withClient(addresses: AddressGuard(allowsPrivate: false)) { client in
                    await client.setConfiguredServers([other])
                    let error = await #expect(throws: BlossomError(.notAllowed, "")) {
                        try await client.download(other, limit: 3)
                    }
                    #expect(error?.message.contains("private address") == true)
                }
            }
        }
    }

    /// The name resolves to a public address when it is checked, and to a private one at the next lookup.
    @Test func connectsToTheCheckedAddress() async throws {
        try await withServer { open, server in
            let stored = try await open.upload(try upload([1, 2, 3]), to: server)
            let url = try MediaURL(stored.url.replacing("127.0.0.1", with: "Media.invalid"))
            let lookups = Mutex(0)
            let addresses = AddressGuard(allowsPrivate: false) { host in
                #expect(host == "media.invalid")
                let count = lookups.withLock { count in
                    count += 1
                    return count
                }
                return [HostAddress(text: "127.0.0.1", scope: count == 1 ? .global : .local)]
            }
            try await withClient(addresses: addresses) { client in
                let found = try await client.download(url, limit: 3)
                #expect(found == [1, 2, 3])
                await #expect(throws: BlossomError(.notAllowed, "")) { try await client.download(url, limit: 3) }
            }
        }
    }

    @Test func followsRedirects() async throws {
        try await withServer { client, server in
            let stored = try await client.upload(try upload([1, 2, 3]), to: server)
            let answer = "HTTP/1.1 307 Moved\r\nLocation: \(stored.url)\r\nContent-Length: 0\r\n\r\n"
            try await withCannedServer(answer) { other in
                let found = try await client.download(other, limit: 3)
                #expect(found == [1, 2, 3])
                // An upload authorization is valid only for its server.
                await #expect(throws: BlossomError(.refused, "")) {
                    try await client.upload(try upload([4]), to: other)
                }
            }
        }
    }

    @Test func silentServerTimesOut() async throws {
        try await withCannedServer(nil) { server in
            try await withClient(idle: .milliseconds(50)) { client in
                await #expect(throws: BlossomError(.unreachable, "")) { try await client.download(server, limit: 10) }
            }
        }
    }

    @Test(arguments: ["", "[]", "{}", "{\"url\":1,\"sha256\":\"00\"}", "{\"url\":\"http://x\",\"sha256\":\"zz\"}"])
    func descriptorRequiresURLAndHash(body: String) async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        try await withCannedServer(answer) { server in
            try await withClient { client in
                await #expect(throws: BlossomError(.badAnswer, "")) {
                    try await client.upload(try upload([1]), to: server)
                }
            }
        }
    }
}
