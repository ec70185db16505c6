/// "Random" bytes 0, 1, 2 and so on, for vectors that fix their nonces.
struct CountingGenerator: RandomNumberGenerator {
    private var state: UInt64 = 0

    mutating func next() -> UInt64 {
        defer { self.state &+= 1 }
        return self.state
    }
}
