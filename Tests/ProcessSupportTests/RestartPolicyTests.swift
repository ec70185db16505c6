import LiveTesting
import ProcessSupport
import Testing

@Suite struct RestartPolicyTests {
    private let policy = RestartPolicy(intensity: 3, period: .seconds(60), backoff: .seconds(1) ... .seconds(5))

    private func verdict(
        afterSuccess isSuccess: Bool = false, of kind: RestartKind = .permanent,
        _ history: inout RestartPolicy.History, now: Duration = .zero
    ) -> RestartPolicy.Verdict {
        var generator = SplitMix64(seed: 1)
        return policy.verdict(
            afterSuccess: isSuccess, of: kind, history: &history, now: now, using: &generator)
    }

    @Test(arguments: [
        (RestartKind.permanent, true, true), (.permanent, false, true), (.transient, true, false),
        (.transient, false, true), (.temporary, true, false), (.temporary, false, false),
    ])
    func restartsByKindAndSuccess(kind: RestartKind, isSuccess: Bool, expected: Bool) {
        var history = RestartPolicy.History()
        let isLeft = verdict(afterSuccess: isSuccess, of: kind, &history) == .leave
        #expect(isLeft != expected)
        #expect(history.restarts.count == (expected ? 1 : 0))
    }

    @Test func quarantinesAboveIntensity() {
        var history = RestartPolicy.History()
        for second in 0..<3 {
            guard case .restart = verdict(&history, now: .seconds(second)) else {
                Issue.record("expected restart \(second) to be allowed")
                return
            }
        }
        #expect(verdict(&history, now: .seconds(59)) == .quarantine)
    }

    @Test func forgetsRestartsOutsidePeriod() {
        var history = RestartPolicy.History()
        for second in [0, 1, 2, 60, 61, 62] {
            #expect(verdict(&history, now: .seconds(second)) != .quarantine)
        }
        #expect(history.restarts == [.seconds(60), .seconds(61), .seconds(62)])
        #expect(verdict(&history, now: .seconds(119)) == .quarantine)
    }

    @Test func intensityZeroQuarantinesAtOnce() {
        let strict = RestartPolicy(intensity: 0, period: .seconds(1), backoff: .seconds(1) ... .seconds(1))
        var history = RestartPolicy.History()
        var generator = SplitMix64(seed: 1)
        let verdict = strict.verdict(
            afterSuccess: false, of: .permanent, history: &history, now: .zero, using: &generator)
        #expect(verdict == .quarantine)
    }

    @Test(arguments: [(0, 1000, 2000), (1, 2000, 4000), (2, 2500, 5000), (3, 2500, 5000), (60, 2500, 5000)])
    func delayDoublesUpToBound(attempt: Int, lowest: Int, highest: Int) {
        let bounds = Duration.milliseconds(lowest) ... .milliseconds(highest)
        var generator = SplitMix64(seed: 7)
        var seen: Set<Duration> = []
        for _ in 0..<200 {
            let delay = policy.delay(attempt: attempt, using: &generator)
            #expect(bounds.contains(delay))
            seen.insert(delay)
        }
        #expect(seen.count > 100)
    }

    @Test func delayGrowsFromZero() {
        var generator = SplitMix64(seed: 7)
        let fromZero = RestartPolicy(intensity: 9, period: .seconds(1), backoff: .zero ... .seconds(1))
        #expect(fromZero.delay(attempt: 12, using: &generator) >= .milliseconds(500))
        let fixed = RestartPolicy(intensity: 9, period: .seconds(1), backoff: .seconds(3) ... .seconds(3))
        #expect(fixed.delay(attempt: 0, using: &generator) == .seconds(3))
        let none = RestartPolicy(intensity: 9, period: .seconds(1), backoff: .zero ... .zero)
        #expect(none.delay(attempt: 4, using: &generator) == .zero)
    }
}
