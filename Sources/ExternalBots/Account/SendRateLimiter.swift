import Metrics
import PikaCore
import Synchronization

/// The rate limit on a program's messages: a burst, then a fixed number per second. Messages above it are delayed,
/// never refused.
final class SendRateLimiter: Sendable {
    private struct State {
        var room: Double
        var at: Int64
    }

    private let burst: Double
    private let perSecond: Double
    private let clock: any CoreClock
    private let state: Mutex<State>

    init(burst: Double = 100, perSecond: Double = 20, clock: any CoreClock) {
        self.burst = burst
        self.perSecond = perSecond
        self.clock = clock
        state = Mutex(State(room: burst, at: clock.nowMilliseconds))
    }

    /// Returns when one more message may be sent, or the task is cancelled.
    func wait() async {
        let delay = reserve(at: clock.nowMilliseconds)
        guard delay > 0 else { return }
        Counter(label: "bot_rate_limited_total", dimensions: [("scope", "outbound")]).increment()
        try? await clock.sleep(untilMilliseconds: clock.nowMilliseconds + delay)
    }

    /// Reserves one message, and returns the delay in milliseconds until it may be sent.
    func reserve(at now: Int64) -> Int64 {
        state.withLock { state in
            let elapsed = Double(max(0, now - state.at)) / 1000
            state.room = min(burst, state.room + elapsed * perSecond) - 1
            state.at = max(state.at, now)
            return state.room >= 0 ? 0 : Int64((-state.room / perSecond * 1000).rounded(.up))
        }
    }
}
