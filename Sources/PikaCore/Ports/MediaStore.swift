public import Nostr

/// Servers that store encrypted files (Blossom), as the core needs them.
///
/// Uploads are already ciphertext; the core verifies downloads. Calls time out after a reasonable time without
/// progress, and end at once when their task is cancelled.
public protocol MediaStore: Sendable {
    /// Sets the servers that the configuration names, replacing earlier ones. They may have any address, including
    /// private ones.
    func setConfiguredServers(_ servers: [MediaURL]) async

    /// Uploads to one server; returns the blob descriptor that the server answers with.
    func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob

    /// Downloads at most `limit` bytes; throws for a longer body, and never holds more than `limit` bytes of it.
    func download(_ url: MediaURL, limit: Int) async throws -> [UInt8]
}

extension MediaStore {
    /// Does nothing: for stores without servers.
    public func setConfiguredServers(_ servers: [MediaURL]) async {}
}

/// A blob to be uploaded.
public struct MediaUpload: Sendable, Hashable {
    /// The encrypted file.
    public let bytes: [UInt8]
    /// SHA-256 of `bytes`.
    public let hash: Bytes32
    /// The `Content-Type` of the upload.
    public let contentType: String
    /// Kind 24242, signed, for this hash (BUD-01).
    public let authorization: Event

    /// Creates an upload; does not verify the hash.
    public init(bytes: [UInt8], hash: Bytes32, contentType: String, authorization: Event) {
        self.bytes = bytes
        self.hash = hash
        self.contentType = contentType
        self.authorization = authorization
    }

    /// Compares everything but the bytes, which the hash identifies.
    public static func == (left: MediaUpload, right: MediaUpload) -> Bool {
        (left.hash, left.contentType, left.authorization) == (right.hash, right.contentType, right.authorization)
    }
    /// Hashes the blob's hash only.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.hash) }
}

/// A server's blob descriptor (BUD-02).
public struct StoredBlob: Sendable, Hashable {
    /// The file's URL, as the server states it.
    public let url: String
    /// SHA-256 of the file, as the server states it.
    public let hash: Bytes32

    /// Creates a descriptor.
    public init(url: String, hash: Bytes32) {
        self.url = url
        self.hash = hash
    }
}

/// An `http:` or `https:` address of a media server, or of a file on one.
///
/// Members of a group choose the addresses of their files, so the target is checked when it is requested.
public struct MediaURL: Sendable, Hashable, CustomStringConvertible {
    /// The address without trailing slashes.
    public let description: String
    /// Lower case; an IPv6 address without its brackets.
    public let host: String
    /// The port; the scheme's default, 80 or 443, if the text has none.
    public let port: Int

    /// Parses an address. Throws `AppCoreError.Code.badAddress` for any other text, including user names, fragments,
    /// blanks and non-ASCII characters.
    public init(_ text: String) throws(AppCoreError) {
        let lower = text.prefix(8).lowercased()
        guard lower == "https://" || lower.hasPrefix("http://") else {
            throw AppCoreError(.badAddress, "the address of a media server must begin with https:// or http://")
        }
        // Hosts and ports follow the same rules as in relay URLs.
        let address: RelayURL
        do { address = try RelayURL("ws" + text.dropFirst("http".count)) } catch {
            throw AppCoreError(.badAddress, "not an address of a media server: \(error.message)")
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

    /// The server's upload endpoint (BUD-02).
    public var upload: MediaURL { MediaURL(self, path: "/upload") }

    /// Returns the address of a blob on the server (BUD-01).
    public func blob(_ hash: Bytes32) -> MediaURL { MediaURL(self, path: "/\(hash.hex)") }

    /// The hash at the beginning of the last path component, as Blossom servers write it; nil if absent.
    var blobHash: Bytes32? {
        let path = self.description.prefix { $0 != "?" }
        guard let slash = path.lastIndex(of: "/") else { return nil }
        return Bytes32(hex: String(path[path.index(after: slash)...].prefix { $0 != "." }))
    }
}

/// A store for accounts without media: every call throws `AppCoreError.Code.noMediaServer`.
public struct NoMediaStore: MediaStore {
    /// Creates the store.
    public init() {}

    /// Throws `AppCoreError.Code.noMediaServer`.
    public func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob { throw Self.error }
    /// Throws `AppCoreError.Code.noMediaServer`.
    public func download(_ url: MediaURL, limit: Int) async throws -> [UInt8] { throw Self.error }

    private static var error: AppCoreError { AppCoreError(.noMediaServer, "this account has no media store") }
}
