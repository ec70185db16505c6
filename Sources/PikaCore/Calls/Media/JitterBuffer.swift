/// Puts received audio frames in order and gives them out one by one, whatever rhythm they came in.
struct JitterBuffer: Sendable {
    enum Arrival: Sendable, Hashable {
        case kept
        /// Its turn has passed.
        case late
        /// So many older frames made room for it.
        case crowded(Int)
    }

    enum Playout: Sendable, Hashable {
        case frame(sequence: UInt64, [UInt8])
        /// It did not come in time; a later one did.
        case missing(sequence: UInt64)
        /// A long stretch is missing and is passed over: so many frames before this one.
        case skipped(Int, sequence: UInt64, [UInt8])
    }

    /// Frames that are kept, and frames that are waited for before the first is given out: as many as Pika's.
    static let capacity = 12
    static let target = 3

    private var frames: [UInt64: [UInt8]] = [:]
    /// Whose turn it is; nil before the first.
    private var next: UInt64?
    private var isPlaying = false
    /// Turns that frames have waited for more of them.
    private var waited = 0

    var depth: Int { self.frames.count }
    /// Whether there is nothing to give out, now or in a few turns.
    var isIdle: Bool { self.frames.isEmpty }

    mutating func insert(_ payload: [UInt8], sequence: UInt64) -> Arrival {
        if let next, sequence < next { return .late }
        self.frames[sequence] = payload
        var dropped = 0
        while self.frames.count > Self.capacity, let oldest = self.frames.keys.min() {
            self.frames[oldest] = nil
            self.next = oldest &+ 1
            dropped += 1
        }
        return dropped == 0 ? .kept : .crowded(dropped)
    }

    /// What is due in this turn; nil if it is better to wait for more frames.
    mutating func take() -> Playout? {
        guard let oldest = self.frames.keys.min() else {
            self.isPlaying = false
            return nil
        }
        if !self.isPlaying {
            self.waited += 1
            // The last few frames of a sender must not wait for ever.
            guard self.frames.count >= Self.target || self.waited > Self.target else { return nil }
            self.isPlaying = true
            self.waited = 0
        }
        let due = self.next ?? oldest
        let gap = oldest - min(due, oldest)
        if gap > 0, gap <= UInt64(Self.capacity) {
            self.next = due &+ 1
            return .missing(sequence: due)
        }
        self.next = oldest &+ 1
        let payload = self.frames.removeValue(forKey: oldest) ?? []
        return gap == 0
            ? .frame(sequence: oldest, payload)
            : .skipped(Int(clamping: gap), sequence: oldest, payload)
    }
}
