/// Bit set of group members, by their positions.
struct MemberSet: Sendable, Hashable {
    private var words: [UInt64] = []

    init() {}

    mutating func insert(_ position: Int) {
        while words.count <= position / 64 { words.append(0) }
        words[position / 64] |= 1 << UInt64(position % 64)
    }

    /// Removes a member; returns whether it was in the set.
    @discardableResult
    mutating func remove(_ position: Int) -> Bool {
        guard contains(position) else { return false }
        words[position / 64] &= ~(1 << UInt64(position % 64))
        return true
    }

    func contains(_ position: Int) -> Bool {
        position / 64 < words.count && words[position / 64] & 1 << UInt64(position % 64) != 0
    }

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }
    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
}
