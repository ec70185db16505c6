import BlossomClient
import Nostr
import PikaCore
import Synchronization

/// Media servers that record their uploads.
final class RecordedMedia: MediaStore {
    struct Upload: Sendable {
        let server: MediaURL
        let url: String
        /// SHA-256 of the stored file, as the server states it.
        let hash: Bytes32
    }

    private let servers: BlossomClient
    private let recorded = Mutex<[Upload]>([])

    init(_ servers: BlossomClient) { self.servers = servers }

    /// All uploads, in order.
    var uploads: [Upload] { recorded.withLock { $0 } }

    func setConfiguredServers(_ servers: [MediaURL]) async { await self.servers.setConfiguredServers(servers) }

    func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob {
        let stored = try await servers.upload(blob, to: server)
        recorded.withLock { $0.append(Upload(server: server, url: stored.url, hash: stored.hash)) }
        return stored
    }

    func download(_ url: MediaURL, limit: Int) async throws -> [UInt8] {
        try await servers.download(url, limit: limit)
    }

    func shutdown() async throws { try await servers.shutdown() }
}
