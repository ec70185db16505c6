/// One turn of the core: what a reducer reads of the outside world, and what it wants of it.
struct CoreStep {
    let nowMilliseconds: Int64
    var random: CoreRandom
    var changes: [StoreChange] = []
    var effects: [AppEffect] = []

    /// Unix seconds.
    var now: Int64 { self.nowMilliseconds / 1000 }
}

/// The core's source of randomness, whichever was given to it.
struct CoreRandom: RandomNumberGenerator, Sendable {
    private var base: any RandomNumberGenerator & Sendable

    init(_ base: any RandomNumberGenerator & Sendable) {
        self.base = base
    }

    mutating func next() -> UInt64 { self.base.next() }
}
