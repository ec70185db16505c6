/// The numbers of the frames that one side sends: a counter for each key, a sequence for each track.
struct CallFrameCounter: Sendable, Hashable {
    private(set) var next: UInt32 = 0
    /// Whether all of them are used up; a second use would give the key away.
    private(set) var isExhausted = false

    init(next: UInt32 = 0) {
        self.next = next
    }

    /// The next number; nil when there is none left.
    mutating func take() -> UInt32? {
        guard !self.isExhausted else { return nil }
        defer {
            let (following, overflow) = self.next.addingReportingOverflow(1)
            if overflow { self.isExhausted = true } else { self.next = following }
        }
        return self.next
    }
}

/// Which of the newest 128 numbers have come: each is let through once, older ones never (wire §8.2).
struct ReplayWindow: Sendable, Hashable {
    static let width: UInt64 = 128

    private var newest: UInt64?
    /// Bit n stands for the newest number less n.
    private var seen: UInt128 = 0

    /// Takes a number in; false if it came before or is too old to tell.
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
