import BlossomClient
package import Nostr
package import PikaCore
import Synchronization

/// A media store that records its uploads.
package final class RecordedMedia: MediaStore {
    package struct Upload: Sendable {
        package let server: MediaURL
        package let url: String
        /// SHA-256 of the stored file, as the server states it.
        package let hash: Bytes32
    }

    private let servers: BlossomClient
    private let recorded = Mutex<[Upload]>([])

    init(_ servers: BlossomClient) { self.servers = servers }

    /// All uploads, in order.
    package var uploads: [Upload] { recorded.withLock { $0 } }

    package func setConfiguredServers(_ servers: [MediaURL]) async { await self.servers.setConfiguredServers(servers) }

    package func upload(_ blob: MediaUpload, to server: MediaURL) async throws -> StoredBlob {
        let stored = try await servers.upload(blob, to: server)
        recorded.withLock { $0.append(Upload(server: server, url: stored.url, hash: stored.hash)) }
        return stored
    }

    package func download(_ url: MediaURL, limit: Int) async throws -> [UInt8] {
        try await servers.download(url, limit: limit)
    }

    func shutdown() async throws { try await servers.shutdown() }
}
