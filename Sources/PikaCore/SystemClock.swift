#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The machine's clock.
public struct SystemClock: CoreClock {
    public init() {}

    public var nowMilliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    public func sleep(untilMilliseconds time: Int64) async throws {
        let wait = time - self.nowMilliseconds
        guard wait > 0 else { return }
        try await Task.sleep(for: .milliseconds(wait))
    }
}
