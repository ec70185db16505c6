import Foundation

/// The time as the server reads it.
package struct ConsoleClock: Sendable {
    /// Milliseconds of a clock that only rises.
    package var milliseconds: @Sendable () -> Int64
    /// Unix seconds.
    package var unixSeconds: @Sendable () -> Int64

    package init(milliseconds: @escaping @Sendable () -> Int64, unixSeconds: @escaping @Sendable () -> Int64) {
        self.milliseconds = milliseconds
        self.unixSeconds = unixSeconds
    }

    /// The clocks of the machine. The first also counts while the machine sleeps.
    package static var system: ConsoleClock {
        let start = ContinuousClock.now
        return ConsoleClock(
            milliseconds: {
                let (seconds, attoseconds) = (ContinuousClock.now - start).components
                return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
            },
            unixSeconds: { Int64(Date().timeIntervalSince1970) })
    }
}
