public import Nostr

/// The clock, as the core needs it.
public protocol CoreClock: Sendable {
    /// The time in Unix milliseconds.
    var nowMilliseconds: Int64 { get }

    /// Returns when ``nowMilliseconds`` has reached `time`; throws only when the task is cancelled.
    func sleep(untilMilliseconds time: Int64) async throws
}

extension CoreClock {
    /// The time.
    public var now: UnixTime { UnixTime(milliseconds: self.nowMilliseconds) }
}
