/// The names, sizes and order of use of the files in a cache, within its bounds. Pure.
struct CachedFiles {
    private struct File {
        let bytes: Int
        var use: UInt64
    }

    private let maximumBytes: Int
    private let maximumFiles: Int
    private var files: [String: File] = [:]
    /// At most `maximumBytes`: files are admitted only where there is room.
    private(set) var bytes = 0
    private var uses: UInt64 = 0

    init(maximumBytes: Int, maximumFiles: Int) {
        self.maximumBytes = maximumBytes
        self.maximumFiles = max(1, maximumFiles)
    }

    var count: Int { self.files.count }

    /// Whether a file of this size fits into the empty cache.
    func admits(_ bytes: Int) -> Bool { bytes >= 0 && bytes <= self.maximumBytes }

    /// Returns the size of a file; nil if there is none.
    func size(of name: String) -> Int? { self.files[name]?.bytes }

    /// Makes a file the most recently used one.
    mutating func use(_ name: String) {
        self.uses += 1
        self.files[name]?.use = self.uses
    }

    /// Inserts a file of an admitted size as the most recently used one, replacing an earlier one of its name; returns
    /// the names of the files evicted for it.
    mutating func insert(_ name: String, bytes: Int) -> [String] {
        self.remove(name)
        var evicted: [String] = []
        while self.files.count >= self.maximumFiles || self.bytes > self.maximumBytes - bytes,
            let oldest = self.files.min(by: { $0.value.use < $1.value.use })?.key
        {
            self.remove(oldest)
            evicted.append(oldest)
        }
        self.uses += 1
        self.files[name] = File(bytes: bytes, use: self.uses)
        self.bytes += bytes
        return evicted
    }

    mutating func remove(_ name: String) {
        guard let file = self.files.removeValue(forKey: name) else { return }
        self.bytes -= file.bytes
    }
}
