import Nostr

/// The name of a cached file: the key of its message's row, in hexadecimal digits, and its index.
struct CachedFileName {
    let message: [UInt8]
    let index: Int64

    init(message: [UInt8], index: Int64) {
        self.message = message
        self.index = index
    }

    /// Returns nil for a name that ``text`` does not give.
    init?(_ name: String) {
        let parts = name.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let message = Hex.decode(String(parts[0])), message.count == 16,
            let index = Int64(parts[1])
        else { return nil }
        self.init(message: message, index: index)
        guard self.text == name else { return nil }
    }

    var text: String { "\(Hex.encode(self.message))-\(self.index)" }
}

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
    var names: [String] { Array(self.files.keys) }

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
