/// A relay's protocol violations on one connection.
struct WireTally: Hashable, Sendable {
    private(set) var messages = 0
    private(set) var bytes = 0
    /// Frames without a valid relay message.
    private(set) var garbage = 0
    /// Events with a wrong id or signature.
    private(set) var invalid = 0
    /// Events that match no filter of their subscription.
    private(set) var unasked = 0

    /// Whether the relay stays within the limits.
    var isWithinLimits: Bool { messages < WireLimits.maximumMessages && bytes < WireLimits.maximumBytes }

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

    mutating func add(_ other: WireTally) {
        messages += other.messages
        bytes += other.bytes
        garbage += other.garbage
        invalid += other.invalid
        unasked += other.unasked
    }
}
