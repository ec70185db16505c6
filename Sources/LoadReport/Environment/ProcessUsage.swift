#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Resource usage of a process so far.
package struct ProcessUsage: Equatable, Sendable {
    /// CPU seconds in user mode and in the kernel.
    package var userSeconds: Double
    package var systemSeconds: Double
    package var peakMemoryBytes: UInt64

    package init(userSeconds: Double, systemSeconds: Double, peakMemoryBytes: UInt64) {
        self.userSeconds = userSeconds
        self.systemSeconds = systemSeconds
        self.peakMemoryBytes = peakMemoryBytes
    }

    /// Returns this process's usage from `getrusage`; nil if it is unavailable.
    package static func current() -> ProcessUsage? {
        var usage = rusage()
        #if canImport(Glibc)
            let (whose, unit) = (__rusage_who_t(RUSAGE_SELF.rawValue), UInt64(1_024))
        #elseif canImport(Musl)
            let (whose, unit) = (RUSAGE_SELF, UInt64(1_024))
        #else
            let (whose, unit) = (RUSAGE_SELF, UInt64(1))
        #endif
        guard getrusage(whose, &usage) == 0 else { return nil }
        return ProcessUsage(
            userSeconds: seconds(usage.ru_utime), systemSeconds: seconds(usage.ru_stime),
            peakMemoryBytes: UInt64(max(0, usage.ru_maxrss)) * unit)
    }

    /// Returns the usage since an earlier reading; peak memory stays that of the whole process.
    package func since(_ earlier: ProcessUsage) -> ProcessUsage {
        ProcessUsage(
            userSeconds: max(0, userSeconds - earlier.userSeconds),
            systemSeconds: max(0, systemSeconds - earlier.systemSeconds), peakMemoryBytes: peakMemoryBytes)
    }

    private static func seconds(_ time: timeval) -> Double {
        (Double(time.tv_sec) * 1e6 + Double(time.tv_usec)) / 1e6
    }
}
