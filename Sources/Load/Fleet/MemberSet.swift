/// Bit set of group members, by their positions.
struct MemberSet: Sendable, Hashable {
    private var words: [UInt64] = []

    init() {}

    mutating func insert(_ place: Int) {
        while words.count <= place / 64 { words.append(0) }
        words[place / 64] |= 1 << UInt64(place % 64)
    }

    /// Removes a member; returns whether it was in the set.
    @discardableResult
    mutating func remove(_ place: Int) -> Bool {
        guard contains(place) else { return false }
        words[place / 64] &= ~(1 << UInt64(place % 64))
        return true
    }

    func contains(_ place: Int) -> Bool {
        place / 64 < words.count && words[place / 64] & 1 << UInt64(place % 64) != 0
    }

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }
    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }
}
