/// The frame counter of one key on the sending side.
struct CallFrameCounter: Sendable, Hashable {
    private(set) var next: UInt32 = 0
    /// Whether all numbers are used up; reusing one would reveal the key.
    private(set) var isExhausted = false

    init(next: UInt32 = 0) {
        self.next = next
    }

    /// Returns the next number; nil when none is left.
    mutating func nextNumber() -> UInt32? {
        guard !self.isExhausted else { return nil }
        defer {
            let (following, overflow) = self.next.addingReportingOverflow(1)
            if overflow { self.isExhausted = true } else { self.next = following }
        }
        return self.next
    }
}

/// A replay window over the newest 128 numbers: each is admitted once, older ones never (docs/protocol/marmot.md §9.5).
struct ReplayWindow: Sendable, Hashable {
    static let width: UInt64 = 128

    private var newest: UInt64?
    /// Bit n represents the number `newest - n`.
    private var seen: UInt128 = 0

    /// Admits a number; returns false if it was seen before or is older than the window.
    mutating func admit(_ number: UInt64) -> Bool {
        guard let newest else {
            self.newest = number
            self.seen = 1
            return true
        }
        if number > newest {
            let distance = number - newest
            self.seen = distance < Self.width ? self.seen << UInt128(distance) | 1 : 1
            self.newest = number
            return true
        }
        let age = newest - number
        guard age < Self.width, self.seen & (1 << UInt128(age)) == 0 else { return false }
        self.seen |= 1 << UInt128(age)
        return true
    }
}
