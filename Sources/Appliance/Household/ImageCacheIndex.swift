/// Bookkeeping of a disk cache of pictures that evicts the least recently used ones. The caller reads, writes and deletes
/// the files.
package struct ImageCacheIndex: Hashable, Sendable, Codable {
    private struct Entry: Hashable, Codable {
        var bytes: Int
        var lastUse: UInt64
    }

    package let maximumBytes: Int
    package let maximumFiles: Int
    private var entries: [String: Entry] = [:]
    private var useCount: UInt64 = 0
    package private(set) var totalBytes = 0

    package init(maximumBytes: Int = 64 << 20, maximumFiles: Int = 2_000) {
        self.maximumBytes = max(0, maximumBytes)
        self.maximumFiles = max(1, maximumFiles)
    }

    package var count: Int { self.entries.count }

    /// The file name of a recipe's picture; a new revision has another one.
    package static func key(_ recipe: Recipe) -> String { "\(recipe.id)-\(recipe.revision).jpg" }

    package func contains(_ key: String) -> Bool { self.entries[key] != nil }

    /// Marks a picture as used; false if it is not cached.
    package mutating func use(_ key: String) -> Bool {
        guard self.entries[key] != nil else { return false }
        self.useCount &+= 1
        self.entries[key]?.lastUse = self.useCount
        return true
    }

    /// Adds a picture and returns the keys of the files to delete.
    ///
    /// A picture that exceeds the cache on its own is not added: the result contains its key.
    package mutating func insert(_ key: String, bytes: Int) -> [String] {
        _ = self.remove(key)
        guard bytes >= 0, bytes <= self.maximumBytes else { return [key] }
        var evicted: [String] = []
        while self.entries.count >= self.maximumFiles || self.totalBytes > self.maximumBytes - bytes {
            guard let oldest = self.entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else { break }
            _ = self.remove(oldest)
            evicted.append(oldest)
        }
        self.useCount &+= 1
        self.entries[key] = Entry(bytes: bytes, lastUse: self.useCount)
        // Cannot overflow: the loop made room within maximumBytes.
        self.totalBytes += bytes
        return evicted
    }

    /// Forgets a picture, such as one whose file is missing; true if it was known.
    package mutating func remove(_ key: String) -> Bool {
        guard let entry = self.entries.removeValue(forKey: key) else { return false }
        self.totalBytes -= entry.bytes
        return true
    }

    /// Forgets files that are missing on disk, and returns those of the disk that are unknown and have to be deleted.
    package mutating func reconcile(with files: Set<String>) -> [String] {
        for key in self.entries.keys where !files.contains(key) { _ = self.remove(key) }
        return files.filter { self.entries[$0] == nil }.sorted()
    }
}
