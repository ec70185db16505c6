/// The clock, as the core needs it.
public protocol CoreClock: Sendable {
    /// The time in Unix milliseconds.
    var nowMilliseconds: Int64 { get }

    /// Returns when ``nowMilliseconds`` has reached `time`; throws only when the task is cancelled.
    func sleep(untilMilliseconds time: Int64) async throws
}

extension CoreClock {
    /// The time in Unix seconds.
    public var now: Int64 { self.nowMilliseconds / 1000 }
}
