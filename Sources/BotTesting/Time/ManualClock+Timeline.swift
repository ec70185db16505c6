import PikaCore

extension ManualClock {
    /// The clock's time, for code that expects a `Clock`.
    package var timeline: Timeline { Timeline(clock: self) }

    /// A `Clock` with the time of a ``ManualClock``.
    package struct Timeline: Clock {
        /// A point in time, in whole milliseconds.
        package struct Instant: InstantProtocol {
            /// The time in Unix milliseconds.
            package let milliseconds: Int64

            /// Returns the instant after a duration, rounded towards zero to whole milliseconds.
            package func advanced(by duration: Duration) -> Instant {
                Instant(milliseconds: self.milliseconds + duration.milliseconds)
            }

            /// Returns the duration until another instant; negative if it is earlier.
            package func duration(to other: Instant) -> Duration {
                .milliseconds(other.milliseconds - self.milliseconds)
            }

            /// Compares the times.
            package static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
        }

        let clock: ManualClock

        /// The current time of the manual clock.
        package var now: Instant { Instant(milliseconds: self.clock.nowMilliseconds) }
        /// One millisecond.
        package var minimumResolution: Duration { .milliseconds(1) }

        /// Returns when the clock has been advanced to `deadline`; throws only when the task is cancelled. Ignores
        /// `tolerance`.
        package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try await self.clock.sleep(untilMilliseconds: deadline.milliseconds)
        }
    }
}
