import NIOHTTP1
import Synchronization

/// The disk space of the media store: what its files use, uploads in flight too, and how much they may use.
final class BlobSpace: Sendable {
    private static let block: Int64 = 4_096

    private let quota: Int64
    private let used = Mutex<Int64>(0)

    init(quota: Int64) {
        self.quota = quota
    }

    /// Bytes on disk of a file of this size, in whole blocks; an empty one costs a block too.
    static func cost(of size: Int) -> Int64 {
        // The size of a file on this disk, or of one within the limit: far from overflow, and clamped all the same.
        let bytes = min(Int64(size), Int64.max >> 8)
        return max(1, bytes / block + (bytes % block == 0 ? 0 : 1)) * block
    }

    /// Whether a file of this size would fit now.
    func hasRoom(for size: Int) -> Bool {
        used.withLock { Self.cost(of: size) <= quota - $0 }
    }

    /// Counts a file that was there before; it may exceed the quota.
    func count(_ size: Int) {
        used.withLock { $0 += Self.cost(of: size) }
    }

    /// Reserves what a file needs to grow from one size to another; nil is the size of a file that is not there.
    ///
    /// Throws an ``HTTPRefusal`` when that exceeds the quota. Shrinking always succeeds.
    func resize(from old: Int?, to new: Int) throws(HTTPRefusal) {
        let growth = Self.cost(of: new) - (old.map(Self.cost) ?? 0)
        let fits = used.withLock { used in
            guard growth <= 0 || growth <= quota - used else { return false }
            used += growth
            return true
        }
        guard fits else { throw HTTPRefusal(.insufficientStorage, "the media store is full") }
    }

    /// Gives back what a removed file used.
    func release(_ size: Int) {
        used.withLock { $0 -= Self.cost(of: size) }
    }
}
