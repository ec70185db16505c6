import MLS
import Marmot
import Metrics
package import Nostr
import Synchronization

/// The parts of the model that downloads need.
struct MediaLookup: Sendable {
    var routes = GroupRoutes()
    var images: [GroupID: GroupImage] = [:]
    var pictures: [GroupID: ComponentPicture] = [:]
    var profiles: [GroupID: [PublicKey: GroupProfile]] = [:]

    func groupID(ofChat chatID: ChatID) throws(AppCoreError) -> GroupID {
        try self.routes.group(named: chatID.rawValue)
    }
}

/// The configured media servers; they may change while files are being read.
final class MediaServers: Sendable {
    private let state: Mutex<[MediaURL]>

    init(_ urls: [MediaURL]) {
        self.state = Mutex(urls)
    }

    var urls: [MediaURL] {
        get { self.state.withLock { $0 } }
        set { self.state.withLock { $0 = newValue } }
    }
}

/// Reads files from the cache and from media servers.
struct MediaReader: Sendable {
    let store: any CoreStore
    let media: any MediaStore
    let servers: MediaServers
    let cache: any MediaCache
    private let turns = MediaTurns()

    init(store: any CoreStore, media: any MediaStore, servers: MediaServers, cache: any MediaCache) {
        self.store = store
        self.media = media
        self.servers = servers
        self.cache = cache
    }

    /// Returns a file of a message from the cache, or else downloads it and keeps it there. Concurrent readers of a file
    /// share one download.
    func read(groupID: GroupID, messageID: EventID, index: Int) async throws -> [UInt8] {
        let name = MediaFile(chatID: ChatID(groupID), messageID: messageID, index: index)
        let (bytes, isShared) = try await self.turns.read(name) {
            let (bytes, isCached) = try await self.find(name, in: groupID)
            // The caller has the file, so a full disk or a file larger than the cache must not fail the call.
            if !isCached { _ = try? await self.cache.keep(bytes, of: name) }
            return bytes
        }
        if isShared { Self.count("cache") }
        return bytes
    }

    /// Keeps a file of a message in the cache, downloading it if needed; returns its location there.
    func keep(_ name: MediaFile, of groupID: GroupID) async throws -> String {
        let (bytes, isShared) = try await self.turns.read(name) { try await self.find(name, in: groupID).bytes }
        if isShared { Self.count("cache") }
        return try await self.cache.keep(bytes, of: name)
    }

    /// Returns a file from the cache, or else downloads and decrypts it.
    ///
    /// The message is looked up first, so that a deleted message has no files, even if the cache still has them.
    private func find(
        _ name: MediaFile, in groupID: GroupID
    ) async throws -> (bytes: [UInt8], isCached: Bool) {
        let stored = try await self.store.media(in: groupID, message: name.messageID)
        guard let file = stored.first(where: { $0.index == name.index }) else {
            throw AppCoreError(.unknownMedia, "the message is unknown, or has no file with the index \(name.index)")
        }
        if let bytes = await self.cache.read(name) {
            Self.count("cache")
            return (bytes, true)
        }
        guard let reference = FileReference(file.reference), file.keys.allSatisfy({ $0.count == 32 }) else {
            throw AppCoreError(.corruptState, "a stored file reference cannot be read")
        }
        let addresses = try reference.places(besides: self.servers.urls)
        let keys = file.keys
        let bytes = try await self.download(addresses) { try reference.open($0, keys: keys) }
        Self.count("server")
        return (bytes, false)
    }

    private static func count(_ source: String) {
        Counter(label: "bot_media_reads_total", dimensions: [("source", source)]).increment()
    }

    /// Downloads and opens a file outside the core's actor, because decrypting a large file takes a while.
    @concurrent
    func download(_ addresses: [MediaURL], open: @Sendable ([UInt8]) throws -> [UInt8]) async throws -> [UInt8] {
        // The ciphertext is 16 bytes longer than the file: the tag.
        let limit = EncryptedMedia.maximumFileBytes + 16
        return try await self.media.download(fromFirstOf: addresses, limit: limit, open: open)
    }
}

extension AppCore {
    /// Returns a file of a sent or received message from the cache, or else downloads and decrypts it, and verifies its
    /// hash.
    ///
    /// Tries the address that the sender names, then the configured servers. Throws `AppCoreError.Code.unknownChat`,
    /// `AppCoreError.Code.unknownMedia` if the message is not stored here or has no such file, and
    /// `AppCoreError.Code.mediaFailed`.
    package func media(chatID: ChatID, messageID: EventID, index: Int = 0) async throws -> [UInt8] {
        let groupID = try self.mediaLookup.groupID(ofChat: chatID)
        return try await self.files.read(groupID: groupID, messageID: messageID, index: index)
    }

    /// Returns the files of a sent or received message; empty if it has none, or is not stored here.
    ///
    /// Throws `AppCoreError.Code.unknownChat`.
    package func attachments(chatID: ChatID, messageID: EventID) async throws -> [MediaAttachment] {
        let stored = try await self.store.media(in: try self.mediaLookup.groupID(ofChat: chatID), message: messageID)
        return stored.compactMap { MediaAttachment($0) }
    }

    /// Downloads and decrypts the group's picture from `servers`, or from the configured ones if empty; nil if the
    /// group has none.
    package func groupImage(chatID: ChatID, servers: [MediaURL] = []) async throws -> [UInt8]? {
        let groupID = try self.mediaLookup.groupID(ofChat: chatID)
        if let picture = self.mediaLookup.pictures[groupID] { return try await self.download(picture, from: servers) }
        guard let image = self.mediaLookup.images[groupID] else { return nil }
        guard let hash = Bytes32(image.hash) else {
            throw AppCoreError(.unknownMedia, "the group's data contain no hash of its picture")
        }
        let servers = servers.isEmpty ? self.files.servers.urls : servers
        return try await self.files.download(servers.map { $0.blob(hash) }) {
            try GroupImageEncryption.decrypt($0, of: image)
        }
    }

    private func download(_ picture: ComponentPicture, from servers: [MediaURL]) async throws -> [UInt8] {
        switch picture {
        case .atAddress(let avatar): return try await self.files.download([try MediaURL(avatar.url)]) { $0 }
        case .encrypted(let image):
            let servers = servers.isEmpty ? self.files.servers.urls : servers
            return try await self.files.download(servers.map { $0.blob(image.hash) }) { try image.decrypt($0) }
        }
    }
}
