/// Sparse histogram of latencies over a short time: a few bytes for each bucket in use.
///
/// A bucket is identified by the value's leading seven bits, so the precision is one part in 128. One second of an
/// operation takes a few hundred bytes, and histograms can be merged without loss.
struct CompactCounts: Equatable, Sendable {
    private var keys: [UInt16] = []
    private var counts: [UInt32] = []
    private(set) var total: UInt64 = 0

    mutating func add(_ microseconds: UInt64) { add(key: Self.key(microseconds), count: 1) }

    mutating func merge(_ other: CompactCounts) {
        if keys.isEmpty {
            self = other
            return
        }
        for (key, count) in zip(other.keys, other.counts) { add(key: key, count: count) }
    }

    /// Returns the latency that `percent` of the values did not exceed, in microseconds; nil when there are none.
    func percentile(_ percent: Double) -> UInt64? {
        guard total > 0 else { return nil }
        let wanted = max(1, UInt64((percent / 100 * Double(total)).rounded(.up)))
        var seen: UInt64 = 0
        for (key, count) in zip(keys, counts) {
            seen += UInt64(count)
            if seen >= wanted { return Self.middle(key) }
        }
        return keys.last.map(Self.middle)
    }

    private mutating func add(key: UInt16, count: UInt32) {
        total += UInt64(count)
        let index = position(key)
        if index < keys.count, keys[index] == key {
            let (sum, over) = counts[index].addingReportingOverflow(count)
            counts[index] = over ? .max : sum
        } else {
            keys.insert(key, at: index)
            counts.insert(count, at: index)
        }
    }

    /// Returns the key's index or insertion point.
    private func position(_ key: UInt16) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // A key is the number of dropped bits, then the leading bits; keys sort like their values.
    static func key(_ value: UInt64) -> UInt16 {
        let dropped = max(0, 57 - value.leadingZeroBitCount)
        return UInt16(dropped) << 7 | UInt16(value >> UInt64(dropped))
    }

    static func middle(_ key: UInt16) -> UInt64 {
        let dropped = UInt64(key >> 7)
        let low = UInt64(key & 127) << dropped
        return dropped == 0 ? low : low + (1 << (dropped - 1))
    }
}
