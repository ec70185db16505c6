import Nostr

/// Token bucket with a clock of whole seconds.
struct TokenBucket: Hashable, Sendable {
    let perSecond: Int
    private(set) var tokens: Int
    private var updated: UnixTime

    /// Starts full, with two seconds' worth of tokens.
    init(perSecond: Int, now: UnixTime) {
        self.perSecond = max(1, perSecond)
        tokens = Self.capacity(self.perSecond)
        updated = now
    }

    private static func capacity(_ perSecond: Int) -> Int {
        perSecond > Int.max / 2 ? Int.max : perSecond * 2
    }

    /// Consumes one token; returns false if none is left.
    mutating func consume(at now: UnixTime) -> Bool { consume(1, at: now) }

    /// Consumes this many tokens; returns false, and consumes none, if there are fewer.
    mutating func consume(_ count: Int, at now: UnixTime) -> Bool {
        refill(at: now)
        guard tokens >= count else { return false }
        tokens -= count
        return true
    }

    /// Returns whether the bucket will be full again by then.
    func isFull(at now: UnixTime) -> Bool {
        var later = self
        later.refill(at: now)
        return later.tokens == Self.capacity(perSecond)
    }

    /// A clock that was set back adds no tokens, and counting continues from its new time.
    private mutating func refill(at now: UnixTime) {
        defer { updated = now }
        guard now > updated else { return }
        let most = Self.capacity(perSecond)
        let sum = tokens.addingReportingOverflow(perSecond)
        let isFull = now.seconds(since: updated) >= 2 || sum.overflow
        tokens = isFull ? most : min(most, sum.partialValue)
    }
}
