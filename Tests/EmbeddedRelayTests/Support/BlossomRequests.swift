import Crypto
import Foundation
import LiveTesting
import Nostr

@testable import EmbeddedRelay

/// A parsed server response.
struct HTTPReply {
    let status: Int
    let head: String
    let body: String

    init(_ text: String) {
        let parts = text.components(separatedBy: "\r\n\r\n")
        head = parts[0]
        body = parts.dropFirst().joined(separator: "\r\n\r\n")
        status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
    }

    func header(_ name: String) -> String? {
        head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    var json: JSONValue? { try? JSONValue(json: body) }
}

/// Requests to the media store as raw text, valid or not.
struct BlossomRequests {
    static let now: UnixTime = 1_700_000_000

    let address: String

    static func hash(_ text: String) -> Bytes32? { Bytes32(Array(SHA256.hash(data: Array(text.utf8)))) }

    static func authorization(
        _ action: BlossomAuthorization.Action, of texts: [String], by author: Author = .alice, at: UnixTime = now,
        lifetime: Int64 = 300
    ) -> String {
        var generator = SplitMix64(seed: 9)
        let event = BlossomAuthorization.event(
            action, hashes: texts.compactMap(hash), content: "test", by: author.keys, now: at, lifetime: lifetime,
            using: &generator)
        return BlossomAuthorization.header(event)
    }

    func send(_ request: String, _ headers: [String] = [], body: String = "") async throws -> HTTPReply {
        let lines = ["\(request) HTTP/1.1", "Host: media.example:7", "Connection: close"] + headers
        return HTTPReply(try await exchange(lines.joined(separator: "\r\n") + "\r\n\r\n" + body, address: address))
    }

    /// Uploads with a valid authorization unless another one is given.
    func upload(
        _ text: String, type: String? = "text/plain", authorization: String? = nil, by author: Author = .alice,
        length: Int? = nil
    ) async throws -> HTTPReply {
        let authorization = authorization ?? Self.authorization(.upload, of: [text], by: author)
        var headers = ["Authorization: \(authorization)", "Content-Length: \(length ?? text.utf8.count)"]
        if let type { headers.append("Content-Type: \(type)") }
        return try await send("PUT /upload", headers, body: text)
    }
}

/// A relay with a stopped clock, and requests to it.
func withBlossom(
    blobBytes: Int? = nil, quota: Int64? = nil, directory: String? = nil, _ body: (BlossomRequests) async throws -> Void
) async throws {
    var configuration = RelayConfiguration()
    configuration.mediaDirectory = directory
    if let blobBytes { configuration.limits.blobBytes = blobBytes }
    if let quota { configuration.limits.mediaBytes = quota }
    try await withEmbeddedRelay(configuration: configuration, now: { BlossomRequests.now }) { _, address in
        try await body(BlossomRequests(address: address))
    }
}
