import LiveTesting
import Testing

@testable import Supervisor

private typealias Action = SupervisorStateMachine.Action

struct OperatorTests {
    private func machine(
        _ names: [String] = ["a", "b"], _ strategy: SupervisorConfiguration.Strategy = .oneForOne,
        patience: Duration? = nil
    ) -> SupervisorStateMachine {
        let configuration = SupervisorConfiguration(
            strategy: strategy, intensity: 1, backoff: .seconds(1) ... .seconds(1), drainDeadline: .seconds(10),
            patience: patience)
        var machine = SupervisorStateMachine(workers: names.map { shell($0, "") }, configuration: configuration)
        _ = machine.start()
        for index in names.indices { _ = machine.spawned(index, pid: Int32(index)) }
        return machine
    }

    private func exit(
        _ machine: inout SupervisorStateMachine, _ worker: Int, _ exit: WorkerExit = .exited(1), now: Duration = .zero
    ) -> [Action] {
        var generator = SplitMix64(seed: 1)
        return machine.exited(worker, exit, now: now, using: &generator)
    }

    private func stops(_ worker: Int) -> [Action] {
        [
            .signal(worker: worker, .terminate),
            .schedule(.stopDeadline(worker: worker, generation: 1), after: .seconds(10)),
        ]
    }

    @Test func requestedRestartCountsNoFailure() {
        var machine = machine()
        #expect(machine.restart(0) == stops(0))
        #expect(
            exit(&machine, 0, .exited(0)) == [
                .emit(.exited(worker: "a", .exited(0))),
                .emit(.restarting(worker: "a", after: .zero, .request)), .spawn(worker: 0),
            ])
        #expect(machine.workers[0].history == RestartPolicy.History())
        #expect(machine.workers[0].record.restarts == 1)
        #expect(machine.workers[1].state == .running(isReady: false))
    }

    /// A repeatedly failing worker shows its reason while it restarts; a run without a report has none.
    @Test func showsLastFailureUntilNext() {
        var machine = machine()
        _ = machine.reported(0, .failed("the disk is full"))
        _ = exit(&machine, 0)
        #expect(machine.status(now: .zero)[0].reason == "the disk is full")
        _ = machine.elapsed(.backoff(worker: 0, generation: 1))
        _ = machine.spawned(0, pid: 9)
        #expect(machine.status(now: .zero)[0].reason == "the disk is full")
        _ = exit(&machine, 0)
        #expect(machine.status(now: .zero)[0].reason?.hasSuffix("last exit: exit status 1") == true)
        _ = machine.restart(0)
        #expect(machine.status(now: .zero)[0].reason == nil)
    }

    @Test func restartRevivesQuarantinedWorker() {
        var machine = machine()
        _ = exit(&machine, 0)
        _ = machine.elapsed(.backoff(worker: 0, generation: 1))
        _ = machine.spawned(0, pid: 9)
        _ = exit(&machine, 0)
        #expect(machine.workers[0].state == .quarantined)
        #expect(machine.status(now: .zero)[0].reason?.hasPrefix("more than 1 restarts") == true)
        #expect(machine.restart(0) == [.spawn(worker: 0)])
        #expect(machine.status(now: .zero)[0].reason == nil)
        // With a clean history: it may fail as often as initially.
        _ = machine.spawned(0, pid: 10)
        #expect(exit(&machine, 0).contains(.emit(.restarting(worker: "a", after: .seconds(1), .exit))))
    }

    @Test func restartSkipsBackoff() {
        var machine = machine()
        _ = exit(&machine, 0)
        #expect(machine.restart(0) == [.spawn(worker: 0)])
        #expect(machine.elapsed(.backoff(worker: 0, generation: 1)) == [])
    }

    @Test func stoppedWorkerKeepsSupervisorRunning() {
        var machine = machine(["a"])
        #expect(machine.halt(0) == stops(0))
        #expect(
            exit(&machine, 0, .exited(0)) == [.emit(.exited(worker: "a", .exited(0))), .emit(.stopped(worker: "a"))])
        #expect(machine.workers[0].state == .stopped)
        #expect(machine.halt(0) == [])
        #expect(machine.restart(0) == [.spawn(worker: 0)])
        _ = machine.spawned(0, pid: 5)
        _ = machine.halt(0)
        _ = exit(&machine, 0, .exited(0))
        #expect(machine.drain() == [.finish(.done)])
        #expect(machine.restart(0) == [])
    }

    @Test func stopsWaitingWorker() {
        var machine = machine()
        _ = exit(&machine, 0)
        #expect(machine.halt(0) == [.emit(.stopped(worker: "a"))])
        #expect(machine.elapsed(.backoff(worker: 0, generation: 1)) == [])
    }

    @Test func stoppedLeaderDoesNotBlockGroup() {
        var machine = machine(["a", "b"], .oneForAll)
        _ = exit(&machine, 0)
        _ = exit(&machine, 1, .exited(0))
        #expect(machine.workers.map(\.state) == [.backingOff, .held])
        #expect(machine.halt(0) == [.emit(.stopped(worker: "a")), .spawn(worker: 1)])
    }

    @Test func restartedLeaderStartsGroup() {
        var machine = machine(["a", "b"], .oneForAll)
        _ = exit(&machine, 0)
        #expect(machine.restart(0) == [])
        #expect(exit(&machine, 1, .exited(0)).suffix(2) == [.spawn(worker: 0), .spawn(worker: 1)])
    }

    @Test func leavingMemberUnblocksGroup() {
        var machine = machine(["a", "b", "c"], .oneForAll)
        _ = exit(&machine, 0)
        _ = machine.restart(1)
        #expect(exit(&machine, 1, .exited(0)).suffix(1) == [.spawn(worker: 1)])
        _ = machine.spawned(1, pid: 8)
        _ = exit(&machine, 2, .exited(0))
        #expect(machine.elapsed(.backoff(worker: 0, generation: 1)) == [.spawn(worker: 0), .spawn(worker: 2)])
    }

    /// If one failure restarts several children, OTP counts restarts per supervisor, not per child.
    @Test(arguments: [(SupervisorConfiguration.Strategy.oneForOne, false), (.oneForAll, true), (.restForOne, true)])
    func groupStrategiesShareFailureCount(strategy: SupervisorConfiguration.Strategy, isTooMany: Bool) {
        var machine = machine(["a", "b"], strategy)
        _ = exit(&machine, 1)
        if strategy == .oneForAll { _ = exit(&machine, 0, .exited(0)) }
        let restarted = machine.elapsed(.backoff(worker: 1, generation: 1))
        #expect(restarted == (strategy == .oneForAll ? [.spawn(worker: 0), .spawn(worker: 1)] : [.spawn(worker: 1)]))
        _ = exit(&machine, 0)
        #expect((machine.workers[0].state == .quarantined) == isTooMany)
    }

    @Test func reconfiguringStartsStopsAndKeepsOrder() {
        var machine = machine(["a", "b"])
        var kept = shell("b", "exit 9")
        kept.greeting = "new"
        #expect(
            machine.reconfigure([shell("c", ""), kept], machine.configuration) == stops(0) + [.spawn(worker: 2)])
        #expect(machine.status(now: .zero).map(\.name) == ["c", "b"])
        #expect(machine.workers[1].state == .running(isReady: false))
        #expect(machine.workers[1].specification.greeting == "new")
        #expect(machine.index(of: "a") == nil)
        #expect(
            exit(&machine, 0, .exited(0)) == [.emit(.exited(worker: "a", .exited(0))), .emit(.stopped(worker: "a"))])
        // A re-added account is a new worker.
        #expect(
            machine.reconfigure([shell("a", ""), shell("b", ""), shell("c", "")], machine.configuration) == [
                .spawn(worker: 3)
            ])
        #expect(machine.status(now: .zero).map(\.name) == ["a", "b", "c"])
    }

    @Test func removedWorkerUnblocksGroup() {
        var machine = machine(["a", "b"], .oneForAll)
        _ = exit(&machine, 0)
        _ = exit(&machine, 1, .exited(0))
        #expect(
            machine.reconfigure([shell("b", "")], machine.configuration) == [
                .emit(.stopped(worker: "a")), .spawn(worker: 1),
            ])
    }
}

@Suite(.live) struct NoWorkerTests {
    @Test func waitsForWorkersIfConfigured() throws {
        let waiting = SupervisorConfiguration(waitsForWorkers: true)
        try waiting.validate(workers: [])
        #expect(throws: SupervisorError.self) { try SupervisorConfiguration().validate(workers: []) }
        var machine = SupervisorStateMachine(workers: [], configuration: waiting)
        #expect(machine.start() == [])
        #expect(machine.reconfigure([shell("a", "")], waiting) == [.spawn(worker: 0)])
        _ = machine.spawned(0, pid: 1)
        _ = machine.reconfigure([], waiting)
        var generator = SystemRandomNumberGenerator()
        let actions = machine.exited(0, .exited(0), now: .zero, using: &generator)
        #expect(actions == [.emit(.exited(worker: "a", .exited(0))), .emit(.stopped(worker: "a"))])
        #expect(machine.drain() == [.finish(.done)])
    }

    /// With workers, the supervisor ends with the last of them.
    @Test func endsWithItsWorkers() {
        let waiting = SupervisorConfiguration(waitsForWorkers: true)
        var machine = SupervisorStateMachine(workers: [shell("a", "", .temporary)], configuration: waiting)
        _ = machine.start()
        _ = machine.spawned(0, pid: 1)
        var generator = SystemRandomNumberGenerator()
        #expect(machine.exited(0, .exited(0), now: .zero, using: &generator).last == .finish(.done))
    }

    @Test func readyWithoutWorkers() throws {
        let manager = try Manager()
        var service = ServiceManager(
            socket: try NotifySocket(environment: ["NOTIFY_SOCKET": manager.path], process: 1))
        service.show(
            SupervisorStateMachine(workers: [], configuration: SupervisorConfiguration(waitsForWorkers: true)))
        #expect(manager.all().first == "READY=1\nSTATUS=0 of 0 accounts ready")
    }
}

struct HealthCheckTests {
    private func machine() -> SupervisorStateMachine {
        let configuration = SupervisorConfiguration(
            backoff: .seconds(1) ... .seconds(1), patience: .seconds(60), longestPause: .seconds(15))
        return SupervisorStateMachine(workers: [shell("a", "")], configuration: configuration)
    }

    private func answerDeadline(_ question: Int) -> SupervisorStateMachine.Timer {
        .answerDeadline(worker: 0, generation: 1, question: question)
    }

    @Test func asksAtOnceAndAfterEachAnswer() {
        var machine = machine()
        _ = machine.start()
        #expect(
            machine.spawned(0, pid: 3) == [
                .emit(.started(worker: "a", pid: 3)), .ask(worker: 0, generation: 1),
                .schedule(answerDeadline(1), after: .seconds(30)),
            ])
        let next = SupervisorStateMachine.Timer.question(worker: 0, generation: 1)
        #expect(
            machine.answered(0, generation: 1) == [.emit(.alive(worker: "a")), .schedule(next, after: .seconds(15))])
        #expect(machine.answered(0, generation: 1) == [])
        #expect(machine.elapsed(answerDeadline(1)) == [])
        #expect(
            machine.elapsed(next) == [
                .ask(worker: 0, generation: 1), .schedule(answerDeadline(2), after: .seconds(30)),
            ])
    }

    @Test func twoUnansweredChecksAreAHang() {
        var machine = machine()
        _ = machine.start()
        _ = machine.spawned(0, pid: 3)
        #expect(
            machine.elapsed(answerDeadline(1)) == [
                .ask(worker: 0, generation: 1), .schedule(answerDeadline(2), after: .seconds(30)),
            ])
        #expect(machine.elapsed(answerDeadline(2)) == [.emit(.hung(worker: "a")), .signal(worker: 0, .kill)])
        #expect(machine.elapsed(answerDeadline(2)) == [])
        var generator = SplitMix64(seed: 1)
        let actions = machine.exited(0, .signaled(9), now: .zero, using: &generator)
        #expect(actions.contains(.emit(.restarting(worker: "a", after: .seconds(1), .hang))))
    }

    @Test func acceptsLateAnswer() {
        var machine = machine()
        _ = machine.start()
        _ = machine.spawned(0, pid: 3)
        _ = machine.elapsed(answerDeadline(1))
        #expect(!machine.answered(0, generation: 1).isEmpty)
        #expect(machine.elapsed(answerDeadline(2)) == [])
        // The next check may again remain unanswered once.
        _ = machine.elapsed(.question(worker: 0, generation: 1))
        #expect(machine.elapsed(answerDeadline(3)).first == .ask(worker: 0, generation: 1))
    }

    @Test func ignoresAnswersOfEarlierRuns() {
        var machine = machine()
        _ = machine.start()
        _ = machine.spawned(0, pid: 3)
        var generator = SplitMix64(seed: 1)
        _ = machine.exited(0, .exited(1), now: .zero, using: &generator)
        #expect(machine.elapsed(answerDeadline(1)) == [])
        _ = machine.elapsed(.backoff(worker: 0, generation: 1))
        _ = machine.spawned(0, pid: 4)
        #expect(machine.answered(0, generation: 1) == [])
        #expect(machine.elapsed(answerDeadline(1)) == [])
        #expect(machine.elapsed(.question(worker: 0, generation: 1)) == [])
    }

    @Test func stoppingWorkerIsNotChecked() {
        var machine = machine()
        _ = machine.start()
        _ = machine.spawned(0, pid: 3)
        _ = machine.drain()
        #expect(machine.elapsed(answerDeadline(1)) == [])
        #expect(machine.elapsed(.question(worker: 0, generation: 1)) == [])
    }
}
