import Foundation

/// The newest entries, in memory and in blocks as they are stored. Pure.
struct JournalRing: Sendable {
    /// How a block is stored: JSON, version 1.
    private struct Block: Codable {
        var v = 1
        /// The number of the first entry.
        var first: Int
        var entries: [JournalEntry]
    }

    static let blockSize = 64
    let name: String
    let capacity: Int
    /// Oldest first.
    private(set) var entries: [JournalEntry] = []
    /// The number of the first of them.
    private var first = 0
    /// The number of the first entry that is not stored yet.
    private var unstored = 0

    init(name: String, capacity: Int) {
        self.name = name
        self.capacity = max(1, capacity)
    }

    private var end: Int { first + entries.count }
    var hasUnstored: Bool { unstored < end }
    /// Names of all blocks that may be stored.
    var keys: [String] { (0..<blockCount).map { "\(name)/\($0)" } }
    /// One more than are full when the ring is: the newest is written again and again.
    private var blockCount: Int { (capacity + Self.blockSize - 1) / Self.blockSize + 1 }

    mutating func add(_ entry: JournalEntry) {
        entries.append(entry)
        // In one go, so that adding one costs next to nothing.
        guard entries.count >= 2 * capacity else { return }
        first += entries.count - capacity
        entries.removeFirst(entries.count - capacity)
    }

    /// At most ``capacity``, oldest first.
    var newest: ArraySlice<JournalEntry> { entries.suffix(capacity) }

    /// Blocks with something new, by key; they count as stored after this.
    mutating func takeUnstored() -> [(key: String, bytes: [UInt8])] {
        guard hasUnstored else { return [] }
        let start = max(unstored, end - capacity)
        unstored = end
        return (start / Self.blockSize...(end - 1) / Self.blockSize).compactMap { number in
            let from = max(number * Self.blockSize, first)
            let to = min((number + 1) * Self.blockSize, end)
            let block = Block(first: from, entries: Array(entries[(from - first)..<(to - first)]))
            // Texts and numbers always have a JSON form.
            guard let bytes = try? JSONEncoder().encode(block) else { return nil }
            return ("\(name)/\(number % blockCount)", Array(bytes))
        }
    }

    /// Puts what an earlier process has stored before what came since; blocks that cannot be read are left out.
    mutating func restore(_ blocks: [[UInt8]]) {
        let read = blocks.compactMap { try? JSONDecoder().decode(Block.self, from: Data($0)) }
            .filter { $0.v == 1 && $0.first >= 0 && $0.first < Int.max / 2 && $0.entries.count <= Self.blockSize }
            .sorted { $0.first < $1.first }
        guard let last = read.last else { return }
        let since = entries
        // The next block begins anew, so that none of the stored ones is written in part.
        let end = last.first + last.entries.count
        let next = (end + Self.blockSize - 1) / Self.blockSize * Self.blockSize
        entries = Array(read.flatMap(\.entries).suffix(capacity))
        first = next - entries.count
        unstored = next
        for entry in since { add(entry) }
    }
}
