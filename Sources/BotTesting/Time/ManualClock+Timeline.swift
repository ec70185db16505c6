import PikaCore

extension ManualClock {
    /// The clock's time, for code that expects a `Clock`.
    public var timeline: Timeline { Timeline(clock: self) }

    public struct Timeline: Clock {
        public struct Instant: InstantProtocol {
            /// Unix milliseconds.
            public let milliseconds: Int64

            public func advanced(by duration: Duration) -> Instant {
                Instant(milliseconds: self.milliseconds + duration.milliseconds)
            }

            public func duration(to other: Instant) -> Duration {
                .milliseconds(other.milliseconds - self.milliseconds)
            }

            public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
        }

        let clock: ManualClock

        public var now: Instant { Instant(milliseconds: self.clock.nowMilliseconds) }
        public var minimumResolution: Duration { .milliseconds(1) }

        public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try await self.clock.sleep(untilMilliseconds: deadline.milliseconds)
        }
    }
}
