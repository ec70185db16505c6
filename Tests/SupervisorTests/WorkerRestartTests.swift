import LiveTesting
import Testing

@testable import Supervisor

struct WorkerRestartTests {
    let policy = RestartPolicy(intensity: 3, period: .seconds(60), backoff: .seconds(1) ... .seconds(5))

    func verdict(
        _ exit: WorkerExit, _ restart: WorkerSpecification.Restart, _ history: inout RestartPolicy.History
    ) -> RestartPolicy.Verdict {
        var generator = SplitMix64(seed: 1)
        return policy.verdict(
            after: exit, of: shell("w", "", restart), history: &history, now: .zero, using: &generator)
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
