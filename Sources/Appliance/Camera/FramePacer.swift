/// Chooses the pictures of a camera that are passed on: at most so many each second, the others are dropped.
///
/// Nothing is buffered: a reader that is busy gets the next picture that arrives when it is ready, so that a picture is
/// never older than its transport.
package struct FramePacer: Hashable, Sendable {
    /// Rates that the interface of the camera allows, in pictures per second.
    package static let rates = 10...15

    private let interval: Duration
    private var next: Duration?
    private var isBusy = false
    package private(set) var dropped = 0

    /// - Parameter rate: pictures per second, limited to ``rates``.
    package init(rate: Int = 12) {
        let rate = max(Self.rates.lowerBound, min(Self.rates.upperBound, rate))
        self.interval = Duration.milliseconds(1_000) / rate
    }

    /// Whether to pass on a picture that arrives now. After true, call ``finished()`` when the reader is ready.
    ///
    /// - Parameter now: time since any fixed start, which never decreases.
    package mutating func admits(at now: Duration) -> Bool {
        guard !self.isBusy, self.next.map({ now >= $0 }) ?? true else {
            self.dropped &+= 1
            return false
        }
        // From the planned time, so that jitter does not lower the rate; but never in a burst after a pause.
        let planned = (self.next ?? now) + self.interval
        self.next = planned > now ? planned : now + self.interval
        self.isBusy = true
        return true
    }

    /// The reader is ready for another picture.
    package mutating func finished() { self.isBusy = false }
}
