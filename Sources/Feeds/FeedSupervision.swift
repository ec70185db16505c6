import FeedRules
package import Logging
import Nostr
package import PikaCore
package import RelayClient

/// Runs a source, and starts it again after each failure: with exponential backoff and jitter, forever.
package struct FeedSupervision: Sendable {
    /// The time in milliseconds after which a running source counts as recovered.
    static let stableAfter: Int64 = 60_000

    private let monitor: FeedMonitor
    private let clock: any CoreClock
    private let backoff: Backoff
    private let generator: SharedGenerator
    private let logger: Logger

    package init(
        monitor: FeedMonitor, clock: any CoreClock, backoff: Backoff = Backoff(cap: .seconds(300)),
        generator: SharedGenerator = SharedGenerator(SystemRandomNumberGenerator()), logger: Logger
    ) {
        self.monitor = monitor
        self.clock = clock
        self.backoff = backoff
        self.generator = generator
        self.logger = logger
    }

    /// Runs a source until the task is cancelled.
    ///
    /// - Parameter feeds: The feeds that the source serves: one, or all webhooks.
    package func run(_ feeds: [String], _ source: () async throws -> Void) async {
        while !Task.isCancelled {
            let began = clock.monotonicMilliseconds
            let pause: FeedPause
            do {
                try await source()
                pause = FeedPause(FeedError(.ended, "the source ended"), seconds: 0)
            } catch is CancellationError {
                break
            } catch let error as FeedPause {
                pause = error
            } catch let error as FeedError {
                pause = FeedPause(error, seconds: 0)
            } catch {
                pause = FeedPause(FeedError(.unreachable, "\(type(of: error))"), seconds: 0)
            }
            guard !Task.isCancelled else { break }
            let isStable = clock.monotonicMilliseconds - began >= Self.stableAfter
            guard (try? await clock.sleep(milliseconds: fail(feeds, pause, isStable: isStable))) != nil else { break }
        }
        for feed in feeds { monitor.enter(.stopped, feed) }
    }

    /// Records a failure; returns the wait before the next attempt in milliseconds.
    private func fail(_ feeds: [String], _ pause: FeedPause, isStable: Bool) -> Int64 {
        for feed in feeds {
            if isStable { monitor.recover(feed) }
            monitor.fail(feed, pause.error)
        }
        let failures = feeds.map { monitor.failures(of: $0) }.max() ?? 1
        var generator = generator
        let wait = backoff.delay(afterFailures: failures, using: &generator)
        let milliseconds = max(pause.milliseconds, Int64(wait / .milliseconds(1)))
        logger.warning(
            "A feed failed; trying again",
            metadata: [
                "feed": "\(feeds.joined(separator: ", "))", "error": "\(pause.error)", "wait.ms": "\(milliseconds)",
            ])
        return milliseconds
    }
}
