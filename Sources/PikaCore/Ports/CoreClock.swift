public import Nostr

/// The clock, as the core needs it.
public protocol CoreClock: Sendable {
    /// The time in Unix milliseconds.
    var nowMilliseconds: Int64 { get }

    /// Milliseconds since a fixed moment; never goes back within a process, even if the time of day does.
    var monotonicMilliseconds: Int64 { get }

    /// Returns when ``nowMilliseconds`` has reached `time`; throws only when the task is cancelled.
    func sleep(untilMilliseconds time: Int64) async throws

    /// Returns when ``monotonicMilliseconds`` has reached `time`; throws only when the task is cancelled.
    func sleep(untilMonotonicMilliseconds time: Int64) async throws
}

extension CoreClock {
    /// The time.
    public var now: UnixTime { UnixTime(milliseconds: self.nowMilliseconds) }
}
