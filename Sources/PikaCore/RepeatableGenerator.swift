/// A random number generator that a seed makes repeatable (SplitMix64). For tests, load tests and choices among replies,
/// never for keys of real accounts: the seed reveals all its numbers.
package struct RepeatableGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; the same seed yields the same numbers.
    package init(seed: UInt64) { self.state = seed }

    /// Returns the next 64 bits.
    package mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var value = self.state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
