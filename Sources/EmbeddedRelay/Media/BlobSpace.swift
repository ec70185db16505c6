import NIOHTTP1
import Synchronization

/// Disk usage of the media store, including uploads in flight, and its quota.
final class BlobSpace: Sendable {
    private static let block: Int64 = 4_096

    private let quota: Int64
    private let used = Mutex<Int64>(0)

    init(quota: Int64) {
        self.quota = quota
    }

    /// Returns the disk space of a file of this size, in whole blocks; an empty file uses one block.
    static func cost(of size: Int) -> Int64 {
        // Sizes are those of files on disk or within the limit, so far from overflow; clamped in any case.
        let bytes = min(Int64(size), Int64.max >> 8)
        return max(1, bytes / block + (bytes % block == 0 ? 0 : 1)) * block
    }

    /// Returns whether a file of this size fits now.
    func hasRoom(for size: Int) -> Bool {
        used.withLock { Self.cost(of: size) <= quota - $0 }
    }

    /// Counts an existing file; may exceed the quota.
    func count(_ size: Int) {
        used.withLock { $0 += Self.cost(of: size) }
    }

    /// Reserves the space for a file to grow from one size to another; a nil size means that the file does not exist.
    ///
    /// Throws an ``HTTPRefusal`` if that exceeds the quota. Shrinking always succeeds.
    func resize(from old: Int?, to new: Int) throws(HTTPRefusal) {
        let growth = Self.cost(of: new) - (old.map(Self.cost) ?? 0)
        let fits = used.withLock { used in
            guard growth <= 0 || growth <= quota - used else { return false }
            used += growth
            return true
        }
        guard fits else { throw HTTPRefusal(.insufficientStorage, "the media store is full") }
    }

    /// Frees the space of a removed file.
    func release(_ size: Int) {
        used.withLock { $0 -= Self.cost(of: size) }
    }
}
