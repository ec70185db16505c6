import MLS
import Nostr

/// One turn of the core: a reducer's view of the outside world, and the changes and effects that it requests.
struct CoreStep {
    let nowMilliseconds: Int64
    /// Milliseconds of the monotonic clock, for the passes of the second generation.
    let monotonicMilliseconds: Int64
    var random: CoreRandom
    /// Runs the cryptography for many members.
    var work: any WorkExecutor = SerialWork()
    var changes: [StoreChange] = []
    var effects: [AppEffect] = []

    /// The time.
    var now: UnixTime { UnixTime(milliseconds: self.nowMilliseconds) }
}

/// The core's source of randomness, a wrapper of the injected one.
struct CoreRandom: RandomNumberGenerator, Sendable {
    private var base: any RandomNumberGenerator & Sendable

    init(_ base: any RandomNumberGenerator & Sendable) {
        self.base = base
    }

    mutating func next() -> UInt64 { self.base.next() }
}
