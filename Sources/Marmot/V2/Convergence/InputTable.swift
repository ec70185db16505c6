import MLS
import Nostr

/// Bound of one kind of admitted inputs: their number, and the size of their messages.
struct InputLimit: Sendable, Hashable {
    let count: Int
    let bytes: Int
}

/// Admitted inputs of one kind by id, bounded in count and bytes.
struct InputTable<Detail: Sendable & Hashable>: Sendable {
    struct Entry: Sendable, Hashable {
        let input: ConvergenceInput
        /// Order of admission; it orders deliveries, and never decides between branches.
        let order: UInt64
        /// Whether no pass has considered the input.
        var isFresh: Bool
        var disposition: InputDisposition
        var detail: Detail
    }

    private let limit: InputLimit
    private var entries: [Bytes32: Entry] = [:]
    private(set) var byteCount = 0
    /// Inputs that were added, changed or removed since ``drainChanges()``.
    private var changed: Set<Bytes32> = []

    init(_ limit: InputLimit) {
        self.limit = limit
    }

    var count: Int { self.entries.count }

    subscript(_ id: Bytes32) -> Entry? { self.entries[id] }

    /// The entries in no particular order.
    var unordered: some Collection<Entry> { self.entries.values }

    /// The entries in the order of admission.
    var inOrder: [Entry] { self.entries.values.sorted { $0.order < $1.order } }

    /// The entries in an order that does not depend on admission.
    var byContent: [Entry] {
        self.entries.values.sorted { ($0.input.epoch, $0.input.id) < ($1.input.epoch, $1.input.id) }
    }

    func contains(where predicate: (Entry) -> Bool) -> Bool { self.entries.values.contains(where: predicate) }

    /// Whether an input of this size may be admitted. When the table is full, the machine refuses the input and its
    /// event stays with the caller.
    func hasRoom(for input: ConvergenceInput) -> Bool {
        self.entries.count < self.limit.count
            && self.byteCount.clampedAdding(input.bytes.count) <= self.limit.bytes
    }

    /// Whether an empty table has room for an input of this size.
    func canHold(_ input: ConvergenceInput) -> Bool { input.bytes.count <= self.limit.bytes }

    mutating func insert(_ entry: Entry) {
        self.remove(entry.input.id)
        self.entries[entry.input.id] = entry
        self.byteCount += entry.input.bytes.count
        self.changed.insert(entry.input.id)
    }

    @discardableResult
    mutating func remove(_ id: Bytes32) -> Entry? {
        guard let entry = self.entries.removeValue(forKey: id) else { return nil }
        self.byteCount -= entry.input.bytes.count
        self.changed.insert(id)
        return entry
    }

    mutating func removeAll() { for id in Array(self.entries.keys) { self.remove(id) } }

    mutating func update(_ id: Bytes32, _ change: (inout Entry) -> Void) {
        guard let known = self.entries[id] else { return }
        var entry = known
        change(&entry)
        guard entry != known else { return }
        self.entries[id] = entry
        self.changed.insert(id)
    }

    /// Returns the ids of the inputs that were added, changed or removed since the last call.
    mutating func drainChanges() -> Set<Bytes32> {
        defer { self.changed = [] }
        return self.changed
    }
}
