import Nostr
import Synchronization

/// Type-erased clocks of a transport.
struct TransportClock: Sendable {
    let sleep: @Sendable (Duration) async throws -> Void
    private let elapsed: @Sendable () -> Duration
    private let unixTime: @Sendable () -> UnixTime

    init<C: Clock>(_ clock: C, unixTime: @escaping @Sendable () -> UnixTime) where C.Duration == Duration {
        let began = clock.now
        elapsed = { began.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
        self.unixTime = unixTime
    }

    var now: Moment { Moment(elapsed: elapsed(), unixTime: unixTime()) }
}

/// Random number generator shared by many tasks.
package struct SharedGenerator: RandomNumberGenerator, Sendable {
    private final class Source: Sendable {
        let generator: Mutex<any RandomNumberGenerator & Sendable>

        init(_ generator: any RandomNumberGenerator & Sendable) {
            self.generator = Mutex(generator)
        }
    }

    private let source: Source

    package init(_ generator: any RandomNumberGenerator & Sendable) {
        source = Source(generator)
    }

    package func next() -> UInt64 { source.generator.withLock { $0.next() } }
}
