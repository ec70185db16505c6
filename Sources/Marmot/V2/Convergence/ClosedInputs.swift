package import MLS
import Nostr

/// Part of the final dispositions of an epoch, small enough to be rewritten for every message.
package struct ClosedChunk: Hashable, Sendable {
    /// The epoch that the inputs name.
    package let epoch: Epoch
    /// Number within the epoch, ascending from 0.
    package let number: UInt32

    /// Creates the name of a part.
    package init(epoch: Epoch, number: UInt32) {
        self.epoch = epoch
        self.number = number
    }
}

/// Final dispositions by id. They outlive their messages, so that a repetition does not count as new.
struct ClosedInputs: Sendable {
    struct Entry: Sendable, Hashable {
        let epoch: Epoch
        let disposition: InputDisposition
        let order: UInt64
        let chunk: ClosedChunk
    }

    /// Maximum number of ids. Beyond it the oldest quarter is forgotten. A repetition is then judged and refused again:
    /// the key of a delivered message is deleted, and an invalid commit stays invalid.
    static let limit = 8192
    /// Maximum number of ids in a chunk.
    static let chunkSize = 32

    private(set) var entries: [Bytes32: Entry] = [:]
    /// The content of each chunk, in order.
    private var chunks: [ClosedChunk: [StoredDisposition]] = [:]
    /// The chunk of each epoch to which ids are added.
    private(set) var openChunks: [Epoch: UInt32] = [:]
    /// Chunks that changed since ``drainChanges()``.
    private var changed: Set<ClosedChunk> = []
    private var nextOrder: UInt64 = 0

    init() {}

    /// Restores stored chunks; those of earlier epochs count as older.
    init(_ stored: [ClosedChunk: [StoredDisposition]]) {
        for chunk in stored.keys.sorted(by: { ($0.epoch, $0.number) < ($1.epoch, $1.number) }) {
            for entry in stored[chunk] ?? [] where self.entries[entry.id] == nil {
                self.add(entry.id, entry.disposition, to: chunk)
            }
            self.openChunks[chunk.epoch] = chunk.number
        }
        self.changed = []
    }

    subscript(_ id: Bytes32) -> InputDisposition? { self.entries[id]?.disposition }

    mutating func insert(_ id: Bytes32, _ epoch: Epoch, _ disposition: InputDisposition) {
        if let known = self.entries[id] {
            self.entries[id] = Entry(
                epoch: known.epoch, disposition: disposition, order: self.order(), chunk: known.chunk)
            if let place = self.chunks[known.chunk]?.firstIndex(where: { $0.id == id }) {
                self.chunks[known.chunk]?[place] = StoredDisposition(
                    id: id, epoch: known.epoch, disposition: disposition)
            }
            self.changed.insert(known.chunk)
            return
        }
        var number = self.openChunks[epoch] ?? 0
        if self.chunks[ClosedChunk(epoch: epoch, number: number)]?.count ?? 0 >= Self.chunkSize {
            number = number.clampedAdding(1)
        }
        self.openChunks[epoch] = number
        self.add(id, disposition, to: ClosedChunk(epoch: epoch, number: number))
        guard self.entries.count > Self.limit else { return }
        let kept = self.entries.values.map(\.order).sorted()[Self.limit / 4]
        self.forget(self.entries.filter { $0.value.order < kept }.keys)
    }

    private mutating func add(_ id: Bytes32, _ disposition: InputDisposition, to chunk: ClosedChunk) {
        self.entries[id] = Entry(
            epoch: chunk.epoch, disposition: disposition, order: self.order(), chunk: chunk)
        self.chunks[chunk, default: []].append(
            StoredDisposition(id: id, epoch: chunk.epoch, disposition: disposition))
        self.changed.insert(chunk)
    }

    private mutating func order() -> UInt64 {
        defer { self.nextOrder = self.nextOrder.clampedAdding(1) }
        return self.nextOrder
    }

    private mutating func forget(_ ids: some Collection<Bytes32>) {
        let forgotten = Set(ids)
        let touched = Set(forgotten.compactMap { self.entries[$0]?.chunk })
        for id in forgotten { self.entries[id] = nil }
        for chunk in touched {
            let kept = self.chunks[chunk]?.filter { !forgotten.contains($0.id) } ?? []
            self.chunks[chunk] = kept.isEmpty ? nil : kept
        }
        self.changed.formUnion(touched)
        // Anyone can send inputs that each name a different epoch.
        let epochs = Set(self.chunks.keys.map(\.epoch))
        self.openChunks = self.openChunks.filter { epochs.contains($0.key) }
    }

    mutating func removeAll() { self.forget(Array(self.entries.keys)) }

    mutating func remove(before floor: Epoch) {
        for chunk in self.chunks.keys where chunk.epoch < floor {
            for entry in self.chunks.removeValue(forKey: chunk) ?? [] { self.entries[entry.id] = nil }
            self.changed.insert(chunk)
        }
        self.openChunks = self.openChunks.filter { $0.key >= floor }
    }

    /// Returns the chunks that changed since the last call.
    mutating func drainChanges() -> Set<ClosedChunk> {
        defer { self.changed = [] }
        return self.changed
    }

    /// The ids of a chunk with their dispositions, in order; empty if it was forgotten.
    func content(of chunk: ClosedChunk) -> [StoredDisposition] { self.chunks[chunk] ?? [] }
}
