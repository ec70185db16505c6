import PikaCore

/// A random number generator that a seed makes repeatable (SplitMix64). For tests only: the seed reveals the keys.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var base: RepeatableGenerator

    /// Creates a generator; the same seed yields the same numbers.
    public init(seed: UInt64) {
        self.base = RepeatableGenerator(seed: seed)
    }

    /// Creates a separate stream per name, so that one member's draws do not affect another's.
    public init(seed: UInt64, stream name: String) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        self.init(seed: seed ^ hash)
    }

    /// Returns the next 64 bits.
    public mutating func next() -> UInt64 { self.base.next() }
}
