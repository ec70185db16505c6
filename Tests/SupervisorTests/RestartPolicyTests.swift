import LiveTesting
import Testing

@testable import Supervisor

struct RestartPolicyTests {
    let policy = RestartPolicy(intensity: 3, period: .seconds(60), backoff: .seconds(1) ... .seconds(5))

    func verdict(
        _ exit: WorkerExit, _ restart: WorkerSpecification.Restart, _ history: inout RestartPolicy.History,
        now: Duration = .zero
    ) -> RestartPolicy.Verdict {
        var generator = SplitMix64(seed: 1)
        return policy.verdict(after: exit, of: shell("w", "", restart), history: &history, now: now, using: &generator)
    }

    @Test(arguments: [
        (WorkerExit.exited(0), WorkerSpecification.Restart.permanent, true),
        (.exited(1), .permanent, true),
        (.signaled(9), .permanent, true),
        (.failedToStart(""), .permanent, true),
        (.exited(0), .transient, false),
        (.exited(1), .transient, true),
        (.signaled(15), .transient, true),
        (.failedToStart(""), .transient, true),
        (.exited(0), .temporary, false),
        (.exited(1), .temporary, false),
        (.signaled(9), .temporary, false),
        (.failedToStart(""), .temporary, false),
    ])
    func restartsByKindAndExit(exit: WorkerExit, restart: WorkerSpecification.Restart, expected: Bool) {
        var history = RestartPolicy.History()
        switch verdict(exit, restart, &history) {
        case .restart(let after):
            #expect(expected)
            #expect((Duration.seconds(1) ... .seconds(2)).contains(after))
            #expect(history.restarts == [.zero])
        case .leave:
            #expect(!expected)
            #expect(history.restarts.isEmpty)
        case .quarantine:
            Issue.record("expected no quarantine at the first exit")
        }
    }

    @Test func quarantinesAboveIntensity() {
        var history = RestartPolicy.History()
        for second in 0..<3 {
            guard case .restart = verdict(.exited(1), .permanent, &history, now: .seconds(second)) else {
                Issue.record("expected restart \(second) to be allowed")
                return
            }
        }
        #expect(verdict(.exited(1), .permanent, &history, now: .seconds(59)) == .quarantine)
    }

    @Test func forgetsRestartsOutsidePeriod() {
        var history = RestartPolicy.History()
        for second in [0, 1, 2, 60, 61, 62] {
            #expect(verdict(.exited(1), .permanent, &history, now: .seconds(second)) != .quarantine)
        }
        #expect(history.restarts == [.seconds(60), .seconds(61), .seconds(62)])
        #expect(verdict(.exited(1), .permanent, &history, now: .seconds(119)) == .quarantine)
    }

    @Test func intensityZeroQuarantinesAtOnce() {
        let strict = RestartPolicy(intensity: 0, period: .seconds(1), backoff: .seconds(1) ... .seconds(1))
        var history = RestartPolicy.History()
        var generator = SplitMix64(seed: 1)
        #expect(
            strict.verdict(after: .exited(1), of: shell("w", ""), history: &history, now: .zero, using: &generator)
                == .quarantine)
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

    @Test func finalStatusQuarantinesAtOnce() {
        var worker = shell("w", "")
        worker.finalStatuses = [79: "a later copy runs"]
        var history = RestartPolicy.History()
        var generator = SplitMix64(seed: 1)
        let verdict = policy.verdict(
            after: .exited(79), of: worker, history: &history, now: .zero, using: &generator)
        #expect(verdict == .quarantine)
        #expect(history.restarts.isEmpty)
    }

    @Test func waitingStatusNeverQuarantines() {
        var worker = shell("w", "")
        worker.waitingStatuses = [75]
        var history = RestartPolicy.History()
        var generator = SplitMix64(seed: 1)
        for attempt in 0..<100 {
            let verdict = policy.verdict(
                after: .exited(75), of: worker, history: &history, now: .seconds(attempt), using: &generator)
            guard case .restart(let after) = verdict else {
                Issue.record("expected restart \(attempt), found \(verdict)")
                return
            }
            if attempt > 3 { #expect((Duration.milliseconds(2500) ... .seconds(5)).contains(after)) }
        }
        #expect(history.restarts.isEmpty)
        #expect(history.waits == 100)
    }
}
