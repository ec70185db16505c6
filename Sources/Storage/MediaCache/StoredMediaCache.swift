import Foundation
import GRDB
import MLS
package import PikaCore
import ProcessSupport
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The downloaded files of an account in the folder `media-cache` of its directory: each sealed, of mode 0600, and named
/// by a keyed hash of chat and message (``CachedFileName``).
///
/// The files of a message are removed with it: by the commit that deletes it, or at the next start after a crash.
/// A file is written beside its place and renamed, so that a crash leaves the old or the new one. Content that does not
/// open, and anything else in the folder, is removed. The order of use outlives the process as the files' times.
package actor StoredMediaCache: MediaCache {
    static let folderName = "media-cache"

    private let folder: String
    private let limits: MediaCacheLimits
    private let sealer: Sealer
    private let pool: DatabasePool
    private var files: CachedFiles

    fileprivate init(
        _ folder: String, _ limits: MediaCacheLimits, _ sealer: Sealer, _ pool: DatabasePool
    ) throws(StoreError) {
        self.folder = folder
        self.limits = limits
        self.sealer = sealer
        self.pool = pool
        var files = CachedFiles(maximumBytes: limits.bytes, maximumFiles: limits.files)
        try Self.prepare(folder)
        let found = try Self.list(folder, files)
        let names = found.map { $0.name }
        let orphans: Set<String>
        do {
            orphans = Set(try pool.read { try Transaction(database: $0, sealer: sealer).orphans(among: names) })
        } catch { throw StoreError(error, database: folder) }
        for file in found {
            let evicted = orphans.contains(file.name) ? [file.name] : files.insert(file.name, bytes: file.bytes)
            for name in evicted { unlink("\(folder)/\(name)") }
        }
        self.files = files
    }

    /// Keeps a file, evicting the least recently used ones if there is no room; returns `cache:` and its name.
    ///
    /// Throws `AppCoreError.Code.notAllowed` for a file larger than the cache, and ``StoreError``.
    package func keep(_ bytes: [UInt8], of file: MediaFile) async throws -> String {
        let name = self.name(of: file)
        guard self.files.admits(bytes.count + Sealer.overhead) else {
            throw AppCoreError(
                .notAllowed,
                "the file has \(bytes.count) bytes, more than the media cache of \(self.limits.bytes) bytes can hold; "
                    + "enlarge media.cache in the configuration")
        }
        let sealed = Array(self.sealer.seal(bytes, in: Self.place(name)))
        for evicted in self.files.insert(name, bytes: sealed.count) { unlink(self.path(evicted)) }
        do { try StoreFile.replace(self.path(name), sealed) } catch {
            self.remove(name)
            throw error
        }
        // The message may have been deleted during the download.
        await self.removeOrphans(among: [name])
        return "cache:\(name)"
    }

    package func read(_ file: MediaFile) async -> [UInt8]? {
        let name = self.name(of: file)
        guard let size = self.files.size(of: name) else { return nil }
        do {
            let bytes = try self.open(name, size: size)
            self.files.use(name)
            return bytes
        } catch {
            self.remove(name)
            return nil
        }
    }

    /// Removes the files of deleted messages.
    func removeOrphans() async { await self.removeOrphans(among: self.files.names) }

    /// Files that cannot be checked stay until the next start.
    private func removeOrphans(among names: [String]) async {
        guard !names.isEmpty else { return }
        let sealer = self.sealer
        let orphans = try? await self.pool.read {
            try Transaction(database: $0, sealer: sealer).orphans(among: names)
        }
        for name in orphans ?? [] { self.remove(name) }
    }

    private func remove(_ name: String) {
        self.files.remove(name)
        unlink(self.path(name))
    }

    // MARK: Files

    private func path(_ name: String) -> String { "\(self.folder)/\(name)" }

    private func name(of file: MediaFile) -> String {
        let groupID = file.chatID.groupID ?? GroupID(file.chatID.rawValue.utf8)
        return CachedFileName(
            message: self.sealer.messageLookup(groupID, file.messageID), index: Int64(file.index)
        ).text
    }

    private static func place(_ name: String) -> Place { Place(.cachedFile, Array(name.utf8)) }

    private func open(_ name: String, size: Int) throws(StoreError) -> [UInt8] {
        let path = self.path(name)
        let descriptor = try StoreFile.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        defer { close(descriptor) }
        let sealed = try StoreFile.read(upTo: size, from: descriptor, path)
        let bytes = try self.sealer.openBytes(Data(sealed), in: Self.place(name))
        // Keeps the order of use across restarts. A failure loses only that order, so it is ignored.
        _ = futimens(descriptor, nil)
        return bytes
    }

    // MARK: Opening

    /// Creates the folder with mode 0700, replacing anything else of its name.
    private static func prepare(_ folder: String) throws(StoreError) {
        var status = stat()
        if lstat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR, unlink(folder) != 0 {
            throw StoreError(errno: errno, "cannot replace", folder)
        }
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw StoreError(errno: errno, "cannot create the directory", folder)
        }
        guard chmod(folder, 0o700) == 0 else { throw StoreError(errno: errno, "cannot set mode 0700", folder) }
    }

    /// Returns the files of the cache, the least recently used first, and removes everything else from the folder.
    private static func list(
        _ folder: String, _ files: CachedFiles
    ) throws(StoreError) -> [(name: String, bytes: Int)] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw StoreError(.io, "\(folder): cannot be listed", cause: error)
        }
        var found: [(name: String, bytes: Int, seconds: Int, nanoseconds: Int)] = []
        for name in names {
            var status = stat()
            let path = "\(folder)/\(name)"
            guard CachedFileName(name) != nil, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_mode & 0o077 == 0, status.st_size >= Sealer.overhead, files.admits(Int(status.st_size))
            else {
                try? FileManager.default.removeItem(atPath: path)
                continue
            }
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            found.append((name, Int(status.st_size), Int(time.tv_sec), Int(time.tv_nsec)))
        }
        found.sort { ($0.seconds, $0.nanoseconds, $0.name) < ($1.seconds, $1.nanoseconds, $1.name) }
        return found.map { ($0.name, $0.bytes) }
    }
}

extension AccountStore {
    /// Opens the account's cache of downloaded files; valid as long as this store holds its directory. Blocks the
    /// calling thread.
    package func openMediaCache(_ limits: MediaCacheLimits) throws(StoreError) -> StoredMediaCache {
        let cache = try StoredMediaCache(self.mediaCacheFolder, limits, self.sealer, self.pool)
        self.openCache.withLock { $0 = cache }
        return cache
    }

    /// Deletes all downloaded files, for an account without a cache. Does nothing if there are none.
    package func removeMediaCache() throws(StoreError) {
        let folder = self.mediaCacheFolder
        guard FileManager.default.fileExists(atPath: folder) else { return }
        do { try FileManager.default.removeItem(atPath: folder) } catch {
            throw StoreError(.io, "\(folder): cannot be removed", cause: error)
        }
    }

    private var mediaCacheFolder: String { "\(self.directory)/\(StoredMediaCache.folderName)" }
}
