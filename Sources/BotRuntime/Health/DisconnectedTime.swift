import Metrics
import PikaCore
import Synchronization

/// Counts the time without a connected relay of the configuration: `bot_gap_seconds_total`.
final class DisconnectedTime: Sendable {
    private let counter = FloatingPointCounter(label: "bot_gap_seconds_total")
    /// Unix milliseconds up to which the time is counted; nil while a relay is connected.
    private let disconnectedSince: Mutex<Int64?>

    init(now: Int64) {
        disconnectedSince = Mutex(now)
    }

    /// - Parameter now: Unix milliseconds.
    func note(isConnected: Bool, now: Int64) {
        let elapsed = disconnectedSince.withLock { since -> Int64 in
            let elapsed = since.map { max(0, now - $0) } ?? 0
            since = isConnected ? nil : now
            return elapsed
        }
        if elapsed > 0 { counter.increment(by: Double(elapsed) / 1000) }
    }
}
