import Nostr

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The machine's clock.
public struct SystemClock: CoreClock {
    /// Creates the clock.
    public init() {}

    /// Unix milliseconds of the system's real-time clock.
    public var nowMilliseconds: Int64 { Self.milliseconds(of: CLOCK_REALTIME) }

    /// Milliseconds of the system's monotonic clock.
    public var monotonicMilliseconds: Int64 { Self.milliseconds(of: CLOCK_MONOTONIC) }

    private static func milliseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Returns when the clock has reached `time` in Unix milliseconds; throws only when the task is cancelled.
    public func sleep(untilMilliseconds time: Int64) async throws {
        let wait = time - self.nowMilliseconds
        guard wait > 0 else { return }
        try await Task.sleep(for: .milliseconds(wait))
    }

    /// Returns when the monotonic clock has reached `time`; throws only when the task is cancelled.
    public func sleep(untilMonotonicMilliseconds time: Int64) async throws {
        let wait = time.clampedSubtracting(self.monotonicMilliseconds)
        guard wait > 0 else { return }
        try await Task.sleep(for: .milliseconds(wait))
    }
}
