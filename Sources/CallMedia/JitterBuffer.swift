/// A jitter buffer: reorders received audio frames and plays them out one per turn, whatever the rhythm of their
/// arrival.
struct JitterBuffer: Sendable {
    enum Arrival: Sendable, Hashable {
        case kept
        /// The frame arrived after its turn.
        case late
        /// The frame was kept, and this many older ones were dropped to make room.
        case overflowed(Int)
    }

    enum Playout: Sendable, Hashable {
        case frame(sequence: UInt64, [UInt8])
        /// The frame did not arrive in time; a later one did.
        case missing(sequence: UInt64)
        /// A long gap was skipped: this many frames before this one.
        case skipped(Int, sequence: UInt64, [UInt8])
    }

    /// The maximum number of frames kept, and the number buffered before playout starts; both as in Pika.
    static let capacity = 12
    static let target = 3

    private var frames: [UInt64: [UInt8]] = [:]
    /// The sequence number to play next; nil before the first frame.
    private var next: UInt64?
    private var isPlaying = false
    /// Turns spent waiting for more frames.
    private var waited = 0

    var depth: Int { self.frames.count }
    /// Whether no frame is buffered.
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
        return dropped == 0 ? .kept : .overflowed(dropped)
    }

    /// Returns the frame due in this turn; nil to wait for more frames.
    mutating func pop() -> Playout? {
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
