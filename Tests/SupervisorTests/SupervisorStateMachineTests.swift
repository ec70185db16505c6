import Testing

@testable import Supervisor

/// Always 0, which yields the lower bound of each delay. The count gives it a size: the thread sanitizer cannot follow
/// an empty value passed inout.
private struct ZeroGenerator: RandomNumberGenerator {
    private var draws = 0

    mutating func next() -> UInt64 {
        draws += 1
        return 0
    }
}

private let tooMany = "more than 0 restarts within 60.0 seconds; last exit: exit status 1"

private typealias Action = SupervisorStateMachine.Action

struct SupervisorStateMachineTests {
    private func machine(
        _ names: [String], _ strategy: SupervisorConfiguration.Strategy = .oneForOne, intensity: Int = 5,
        restart: WorkerSpecification.Restart = .permanent, running: Bool = true
    ) -> SupervisorStateMachine {
        let configuration = SupervisorConfiguration(
            strategy: strategy, intensity: intensity, backoff: .seconds(1) ... .seconds(30),
            drainDeadline: .seconds(10))
        var machine = SupervisorStateMachine(
            workers: names.map { shell($0, "", restart) }, configuration: configuration)
        if running {
            _ = machine.start()
            for index in names.indices { _ = machine.spawned(index, pid: Int32(index)) }
        }
        return machine
    }

    private func exit(
        _ machine: inout SupervisorStateMachine, _ worker: Int, _ exit: WorkerExit = .exited(1), now: Duration = .zero
    ) -> [Action] {
        var generator = ZeroGenerator()
        return machine.exited(worker, exit, now: now, using: &generator)
    }

    private func together(_ worker: String) -> Action { .emit(.restarting(worker: worker, after: .zero, .together)) }

    @Test func startsAndReportsEveryWorker() {
        var machine = machine(["a", "b"], running: false)
        #expect(machine.start() == [.spawn(worker: 0), .spawn(worker: 1)])
        #expect(machine.spawned(1, pid: 7) == [.emit(.started(worker: "b", pid: 7))])
        #expect(machine.reported(1, .starting) == [])
        #expect(machine.reported(1, .ready) == [.emit(.ready(worker: "b"))])
        #expect(machine.reported(1, .ready) == [])
        #expect(machine.reported(1, .draining) == [.emit(.draining(worker: "b"))])
    }

    @Test func onlyFinalStatusQuarantinesAtOnce() {
        var specification = shell("a", "", .permanent)
        specification.finalStatuses = [79: "a later copy runs"]
        for (exit, isFinal) in [(WorkerExit.exited(79), true), (.exited(78), false), (.signaled(79), false)] {
            var machine = SupervisorStateMachine(
                workers: [specification], configuration: SupervisorConfiguration())
            _ = machine.start()
            _ = machine.spawned(0, pid: 1)
            let actions = self.exit(&machine, 0, exit)
            #expect(actions.contains(.emit(.quarantined(worker: "a", why: "a later copy runs"))) == isFinal)
            #expect(actions.contains(.finish(.quarantined(["a"], status: 79))) == isFinal)
        }
    }

    /// A worker is no longer expected to run once it has ended successfully and is not restarted. During a shutdown
    /// every worker counts as expected.
    @Test func intendedEndIsNotExpectedToRun() {
        for (kind, end, isExpected) in [
            (WorkerSpecification.Restart.transient, WorkerExit.exited(0), false), (.temporary, .exited(0), false),
            (.temporary, .exited(1), true), (.temporary, .signaled(9), true), (.permanent, .exited(0), true),
        ] {
            var machine = machine(["a", "b"], restart: kind)
            _ = exit(&machine, 0, end)
            #expect(machine.status(now: .zero).map(\.isExpected) == [isExpected, true], "\(kind) \(end)")
            _ = machine.drain()
            #expect(machine.status(now: .zero).map(\.isExpected) == [true, true])
        }
    }

    @Test func oneForOneRestartsOnlyFailedWorker() {
        var machine = machine(["a", "b"])
        #expect(
            exit(&machine, 0, .signaled(9)) == [
                .emit(.exited(worker: "a", .signaled(9))), .emit(.restarting(worker: "a", after: .seconds(1), .signal)),
                .schedule(.backoff(worker: 0, generation: 1), after: .seconds(1)),
            ])
        #expect(machine.workers[1].state == .running(isReady: false))
        #expect(machine.elapsed(.backoff(worker: 0, generation: 1)) == [.spawn(worker: 0)])
        #expect(machine.elapsed(.backoff(worker: 0, generation: 1)) == [])
    }

    @Test func quarantinesAndEndsWhenNothingRuns() {
        var machine = machine(["a", "b"], intensity: 0)
        #expect(
            exit(&machine, 0) == [
                .emit(.exited(worker: "a", .exited(1))), .emit(.quarantined(worker: "a", why: tooMany)),
            ])
        #expect(
            exit(&machine, 1) == [
                .emit(.exited(worker: "b", .exited(1))), .emit(.quarantined(worker: "b", why: tooMany)),
                .finish(.quarantined(["a", "b"], status: nil)),
            ])
    }

    @Test func temporaryWorkersEndTheSupervisor() {
        var machine = machine(["a"], restart: .temporary)
        #expect(
            exit(&machine, 0) == [
                .emit(.exited(worker: "a", .exited(1))), .emit(.stopped(worker: "a")), .finish(.done),
            ])
    }

    @Test func oneForAllRestartsAllTogether() {
        var machine = machine(["a", "b", "c"], .oneForAll)
        #expect(
            exit(&machine, 1) == [
                .emit(.exited(worker: "b", .exited(1))), .emit(.restarting(worker: "b", after: .seconds(1), .exit)),
                .signal(worker: 0, .terminate), .schedule(.stopDeadline(worker: 0, generation: 1), after: .seconds(10)),
                .signal(worker: 2, .terminate), .schedule(.stopDeadline(worker: 2, generation: 1), after: .seconds(10)),
                .schedule(.backoff(worker: 1, generation: 1), after: .seconds(1)),
            ])
        #expect(exit(&machine, 2, .exited(0)) == [.emit(.exited(worker: "c", .exited(0))), together("c")])
        #expect(machine.elapsed(.backoff(worker: 1, generation: 1)) == [])
        #expect(machine.elapsed(.stopDeadline(worker: 0, generation: 1)) == [.signal(worker: 0, .kill)])
        #expect(
            exit(&machine, 0, .signaled(9)) == [
                .emit(.exited(worker: "a", .signaled(9))), together("a"), .spawn(worker: 0), .spawn(worker: 1),
                .spawn(worker: 2),
            ])
        #expect(machine.elapsed(.stopDeadline(worker: 0, generation: 1)) == [])
    }

    @Test func oneForAllWaitsForBackoff() {
        var machine = machine(["a", "b"], .oneForAll)
        _ = exit(&machine, 0)
        _ = exit(&machine, 1, .exited(0))
        #expect(machine.workers.map(\.state) == [.backingOff, .held])
        #expect(machine.elapsed(.backoff(worker: 0, generation: 1)) == [.spawn(worker: 0), .spawn(worker: 1)])
    }

    @Test func restForOneStopsLaterWorkersOnly() {
        var machine = machine(["a", "b", "c"], .restForOne)
        #expect(exit(&machine, 1).contains(.signal(worker: 2, .terminate)))
        #expect(machine.workers[0].state == .running(isReady: false))
        // An earlier worker fails meanwhile and leads the group; the first delay no longer applies.
        #expect(
            exit(&machine, 0) == [
                .emit(.exited(worker: "a", .exited(1))), .emit(.restarting(worker: "a", after: .seconds(2), .exit)),
                .schedule(.backoff(worker: 0, generation: 1), after: .seconds(2)),
            ])
        #expect(machine.elapsed(.backoff(worker: 1, generation: 1)) == [])
        #expect(machine.elapsed(.backoff(worker: 0, generation: 1)) == [])
        #expect(exit(&machine, 2, .exited(0)).suffix(3) == [.spawn(worker: 0), .spawn(worker: 1), .spawn(worker: 2)])
    }

    @Test func quarantineStopsTheGroup() {
        var machine = machine(["a", "b", "c"], .restForOne, intensity: 0)
        #expect(
            exit(&machine, 1) == [
                .emit(.exited(worker: "b", .exited(1))), .emit(.quarantined(worker: "b", why: tooMany)),
                .signal(worker: 2, .terminate), .schedule(.stopDeadline(worker: 2, generation: 1), after: .seconds(10)),
            ])
        #expect(
            exit(&machine, 2, .exited(0)) == [
                .emit(.exited(worker: "c", .exited(0))),
                .emit(.quarantined(worker: "c", why: "a worker of the same restart group was quarantined")),
            ])
        #expect(machine.workers[0].state == .running(isReady: false))
    }

    @Test func drainStopsAllWithOneDeadline() {
        var machine = machine(["a", "b", "c"])
        _ = exit(&machine, 2)
        #expect(
            machine.drain() == [
                .signal(worker: 0, .terminate), .signal(worker: 1, .terminate),
                .schedule(.drainDeadline, after: .seconds(10)),
            ])
        #expect(machine.drain() == [])
        #expect(machine.workers[2].state == .finished)
        #expect(machine.elapsed(.backoff(worker: 2, generation: 1)) == [])
        #expect(exit(&machine, 0, .exited(0)) == [.emit(.exited(worker: "a", .exited(0)))])
        #expect(machine.elapsed(.drainDeadline) == [.signal(worker: 1, .kill)])
        #expect(exit(&machine, 1, .signaled(9)) == [.emit(.exited(worker: "b", .signaled(9))), .finish(.done)])
    }

    @Test func drainsBeforeSpawn() {
        var machine = machine(["a"], running: false)
        _ = machine.start()
        #expect(machine.drain() == [.schedule(.drainDeadline, after: .seconds(10))])
        #expect(machine.spawned(0, pid: 3) == [.emit(.started(worker: "a", pid: 3)), .signal(worker: 0, .terminate)])
    }

    @Test func drainWithoutWorkersEndsAtOnce() {
        var machine = machine(["a"])
        _ = exit(&machine, 0)
        #expect(machine.drain() == [.finish(.done)])
    }

    @Test func drainOverrulesGroupRestart() {
        var machine = machine(["a", "b"], .oneForAll)
        _ = exit(&machine, 0)
        #expect(machine.drain() == [.schedule(.drainDeadline, after: .seconds(10))])
        #expect(exit(&machine, 1, .exited(0)) == [.emit(.exited(worker: "b", .exited(0))), .finish(.done)])
    }
}
