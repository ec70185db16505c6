import Foundation

/// The newest journal entries, in memory and as blocks for the store. Pure.
struct JournalRing: Sendable {
    /// The stored form of a block: JSON, version 1.
    private struct Block: Codable {
        var v = 1
        /// The number of the first entry.
        var first: Int
        var entries: [JournalEntry]
    }

    static let blockSize = 64
    let name: String
    let capacity: Int
    /// The entries, oldest first.
    private(set) var entries: [JournalEntry] = []
    /// The number of the first entry in `entries`.
    private var first = 0
    /// The number of the first entry that is not stored yet.
    private var unstored = 0

    init(name: String, capacity: Int) {
        self.name = name
        self.capacity = max(1, capacity)
    }

    private var end: Int { first + entries.count }
    var hasUnstored: Bool { unstored < end }
    /// The keys of all blocks that may be stored.
    var keys: [String] { (0..<blockCount).map { "\(name)/\($0)" } }
    /// One more than a full ring needs: the newest block is partly filled, and rewritten as it grows.
    private var blockCount: Int { (capacity + Self.blockSize - 1) / Self.blockSize + 1 }

    mutating func add(_ entry: JournalEntry) {
        entries.append(entry)
        // Removes many at once, so that adding an entry stays cheap.
        guard entries.count >= 2 * capacity else { return }
        first += entries.count - capacity
        entries.removeFirst(entries.count - capacity)
    }

    /// The newest entries, at most `capacity`, oldest first.
    var newest: ArraySlice<JournalEntry> { entries.suffix(capacity) }

    /// Returns the blocks with unstored entries, by key, and marks them as stored.
    mutating func drainUnstored() -> [(key: String, bytes: [UInt8])] {
        guard hasUnstored else { return [] }
        let start = max(unstored, end - capacity)
        unstored = end
        return (start / Self.blockSize...(end - 1) / Self.blockSize).compactMap { number in
            let from = max(number * Self.blockSize, first)
            let to = min((number + 1) * Self.blockSize, end)
            let block = Block(first: from, entries: Array(entries[(from - first)..<(to - first)]))
            // Strings and numbers can always be encoded as JSON.
            guard let bytes = try? JSONEncoder().encode(block) else { return nil }
            return ("\(name)/\(number % blockCount)", Array(bytes))
        }
    }

    /// Inserts the blocks of an earlier process before the entries added since; unreadable blocks are ignored.
    mutating func restore(_ blocks: [[UInt8]]) {
        let read = blocks.compactMap { try? JSONDecoder().decode(Block.self, from: Data($0)) }
            .filter { $0.v == 1 && $0.first >= 0 && $0.first < Int.max / 2 && $0.entries.count <= Self.blockSize }
            .sorted { $0.first < $1.first }
        guard let last = read.last else { return }
        let since = entries
        // Continues with a new block, so that no stored block is overwritten in part.
        let end = last.first + last.entries.count
        let next = (end + Self.blockSize - 1) / Self.blockSize * Self.blockSize
        entries = Array(read.flatMap(\.entries).suffix(capacity))
        first = next - entries.count
        unstored = next
        for entry in since { add(entry) }
    }
}
