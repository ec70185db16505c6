/// How a relay behaves on one connection, whatever is asked of it.
struct WireManners: Hashable, Sendable {
    private(set) var messages = 0
    private(set) var bytes = 0
    /// Frames that hold no message of a relay.
    private(set) var garbage = 0
    /// Events whose id or signature is not theirs.
    private(set) var invalid = 0
    /// Events that match no filter of their subscription.
    private(set) var unasked = 0

    /// Whether one goes on listening.
    var isBearable: Bool { messages < WireLimits.mostMessages && bytes < WireLimits.mostBytes }

    mutating func count(bytes: Int) {
        messages += 1
        self.bytes += bytes
    }

    mutating func countGarbage(bytes: Int) {
        count(bytes: bytes)
        garbage += 1
    }

    mutating func countInvalid() { invalid += 1 }

    mutating func countUnasked() { unasked += 1 }

    mutating func add(_ other: WireManners) {
        messages += other.messages
        bytes += other.bytes
        garbage += other.garbage
        invalid += other.invalid
        unasked += other.unasked
    }
}
