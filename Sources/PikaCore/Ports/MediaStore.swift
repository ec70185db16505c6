public import Nostr

/// Servers that keep encrypted files (Blossom), as the core needs them.
///
/// What is uploaded is ciphertext already; what is downloaded is checked by the core. Calls end by themselves after a
/// reasonable time without progress, and at once when their task is cancelled.
public protocol MediaStore: Sendable {
    /// Names the servers that the configuration chose, in place of those named before: these may be anywhere.
    func nameServers(_ servers: [MediaURL]) async

    /// Uploads to one server; returns when the server has said what it keeps.
    func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob

    /// Downloads at most `limit` bytes; a longer body is an error, and no more than that is ever held.
    func download(_ url: MediaURL, limit: Int) async throws -> [UInt8]
}

extension MediaStore {
    /// For stores that go nowhere.
    public func nameServers(_ servers: [MediaURL]) async {}
}

/// A blob on its way to a server.
public struct MediaUpload: Sendable, Hashable {
    public let bytes: [UInt8]
    /// SHA-256 of `bytes`.
    public let hash: Bytes32
    public let contentType: String
    /// Kind 24242, signed, for this hash (BUD-01).
    public let authorization: Event

    public init(bytes: [UInt8], hash: Bytes32, contentType: String, authorization: Event) {
        self.bytes = bytes
        self.hash = hash
        self.contentType = contentType
        self.authorization = authorization
    }

    public static func == (left: MediaUpload, right: MediaUpload) -> Bool {
        (left.hash, left.contentType, left.authorization) == (right.hash, right.contentType, right.authorization)
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(self.hash) }
}

/// What a server says it keeps (BUD-02's descriptor).
public struct StoredBlob: Sendable, Hashable {
    public let url: String
    public let hash: Bytes32

    public init(url: String, hash: Bytes32) {
        self.url = url
        self.hash = hash
    }
}

/// An `http:` or `https:` address: of a media server, or of a file on one.
///
/// Members of a group choose the addresses of their files. Where one leads is judged when it is asked.
public struct MediaURL: Sendable, Hashable, CustomStringConvertible {
    /// Without a slash at its end.
    public let description: String
    /// Lower case; an IPv6 address without its brackets.
    public let host: String
    /// That of the scheme, 80 or 443, if the text has none.
    public let port: Int

    /// Throws ``AppCoreError/Code/badAddress`` for anything else, also for user names, fragments, blanks and
    /// characters outside ASCII.
    public init(_ text: String) throws(AppCoreError) {
        let lower = text.prefix(8).lowercased()
        guard lower == "https://" || lower.hasPrefix("http://") else {
            throw AppCoreError(.badAddress, "the address of a media server begins with https:// or http://")
        }
        // The rules for hosts and ports are those of relays.
        let address: RelayURL
        do { address = try RelayURL("ws" + text.dropFirst("http".count)) } catch {
            throw AppCoreError(.badAddress, "no address of a media server: \(error.message)")
        }
        var trimmed = Substring(text)
        while trimmed.hasSuffix("/") { trimmed.removeLast() }
        self.description = String(trimmed)
        (self.host, self.port) = (address.host, address.port)
    }

    private init(_ server: MediaURL, path: String) {
        self.description = server.description + path
        (self.host, self.port) = (server.host, server.port)
    }

    /// Where a server takes uploads (BUD-02).
    public var upload: MediaURL { MediaURL(self, path: "/upload") }

    /// Where a server has a blob (BUD-01).
    public func blob(_ hash: Bytes32) -> MediaURL { MediaURL(self, path: "/\(hash.hex)") }

    /// The hash that the last part of the path begins with, as Blossom servers write it; nil if there is none.
    var blobHash: Bytes32? {
        let path = self.description.prefix { $0 != "?" }
        guard let slash = path.lastIndex(of: "/") else { return nil }
        return Bytes32(hex: String(path[path.index(after: slash)...].prefix { $0 != "." }))
    }
}

/// For accounts that have no media: every call throws ``AppCoreError/Code/noMediaServer``.
public struct NoMediaStore: MediaStore {
    public init() {}

    public func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob { throw Self.error }
    public func download(_ url: MediaURL, limit: Int) async throws -> [UInt8] { throw Self.error }

    private static var error: AppCoreError { AppCoreError(.noMediaServer, "this account was set up without media") }
}
