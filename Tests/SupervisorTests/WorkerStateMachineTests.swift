import Testing

@testable import Supervisor

struct WorkerStateMachineTests {
    typealias State = WorkerStateMachine.State

    static let states: [State] = [
        .idle, .spawning(stop: nil), .spawning(stop: .drain), .spawning(stop: .restartTogether),
        .spawning(stop: .quarantine), .spawning(stop: .restart), .spawning(stop: .halt), .spawning(stop: .remove),
        .running(isReady: false), .running(isReady: true), .stopping(.drain),
        .stopping(.restartTogether), .stopping(.quarantine), .stopping(.restart), .stopping(.halt), .stopping(.remove),
        .backingOff, .held,
        .quarantined, .finished, .stopped, .removed,
    ]

    func worker(_ state: State) -> WorkerStateMachine { WorkerStateMachine(shell("w", ""), state: state) }

    @Test(arguments: states)
    func startsOnlyIdleOrWaitingWorkers(state: State) {
        var worker = worker(state)
        let starts = [.idle, .backingOff, .held].contains(state)
        #expect(worker.start() == starts)
        #expect(worker.state == (starts ? .spawning(stop: nil) : state))
        #expect(worker.generation == (starts ? 1 : 0))
    }

    @Test(arguments: states)
    func spawnedWorkerObeysEarlierStop(state: State) {
        var worker = worker(state)
        let mustStop = worker.spawned()
        switch state {
        case .spawning(stop: nil):
            #expect(!mustStop)
            #expect(worker.state == .running(isReady: false))
        case .spawning(stop: .some(let reason)):
            #expect(mustStop)
            #expect(worker.state == .stopping(reason))
        default:
            #expect(!mustStop)
            #expect(worker.state == state)
        }
    }

    @Test(arguments: states)
    func readyCountsOnceWhileRunning(state: State) {
        var worker = worker(state)
        let isNews = state == .running(isReady: false)
        #expect(worker.becameReady() == isNews)
        #expect(worker.state == (isNews ? .running(isReady: true) : state))
        let again = worker.becameReady()
        #expect(!again)
    }

    @Test(arguments: states, WorkerStateMachine.StopReason.allCases)
    func stopsInEveryState(state: State, reason: WorkerStateMachine.StopReason) {
        var worker = worker(state)
        let action = worker.stop(reason)
        let settled: [WorkerStateMachine.StopReason: State] = [
            .drain: .finished, .restartTogether: .held, .quarantine: .quarantined, .restart: .held, .halt: .stopped,
            .remove: .removed,
        ]
        switch state {
        case .spawning(let earlier):
            #expect(action == .none)
            #expect(worker.state == .spawning(stop: earlier?.overruled(by: reason) ?? reason))
        case .running:
            #expect(action == .terminate)
            #expect(worker.state == .stopping(reason))
        case .stopping(let earlier):
            #expect(action == .none)
            #expect(worker.state == .stopping(earlier.overruled(by: reason)))
        case .idle, .backingOff, .held:
            #expect(action == .stopped)
            #expect(worker.state == settled[reason])
        case .quarantined, .finished, .stopped:
            #expect(action == .none)
            #expect(worker.state == (reason == .remove ? .removed : state))
        case .removed:
            #expect(action == .none)
            #expect(worker.state == .removed)
        }
    }

    @Test(arguments: states.filter { WorkerStateMachine(shell("w", ""), state: $0).isAlive })
    func exitIsJudgedUnlessRequested(state: State) {
        var worker = worker(state)
        let action = worker.exited()
        switch state {
        case .stopping(.drain), .spawning(stop: .drain):
            #expect(action == .stopped(.drain))
            #expect(worker.state == .finished)
        case .stopping(.restartTogether), .spawning(stop: .restartTogether):
            #expect(action == .stopped(.restartTogether))
            #expect(worker.state == .held)
        case .stopping(.quarantine), .spawning(stop: .quarantine):
            #expect(action == .stopped(.quarantine))
            #expect(worker.state == .quarantined)
        case .stopping(.restart), .spawning(stop: .restart):
            #expect(action == .stopped(.restart))
            #expect(worker.state == .held)
        case .stopping(.halt), .spawning(stop: .halt):
            #expect(action == .stopped(.halt))
            #expect(worker.state == .stopped)
        case .stopping(.remove), .spawning(stop: .remove):
            #expect(action == .stopped(.remove))
            #expect(worker.state == .removed)
        default:
            #expect(action == .judge)
            #expect(worker.state == state)
        }
    }

    @Test func verdictsSetStates() {
        var worker = worker(.running(isReady: true))
        worker.apply(.restart(after: .zero))
        #expect(worker.state == .backingOff)
        worker.apply(.leave)
        #expect(worker.state == .finished)
        worker.apply(.quarantine)
        #expect(worker.state == .quarantined)
    }

    @Test func classifiesStatesAsAliveOrOver() {
        #expect(Self.states.filter { worker($0).isAlive }.count == 15)
        #expect(Self.states.filter { worker($0).isOver } == [.quarantined, .finished, .stopped, .removed])
    }

    /// The effective one of two stop reasons, in either order.
    @Test func strongerStopReasonWins() {
        for reason in WorkerStateMachine.StopReason.allCases {
            #expect(WorkerStateMachine.StopReason.drain.overruled(by: reason) == .drain)
            #expect(reason.overruled(by: .drain) == .drain)
            if reason != .drain {
                #expect(WorkerStateMachine.StopReason.remove.overruled(by: reason) == .remove)
                #expect(reason.overruled(by: .remove) == .remove)
            }
        }
        for group in [WorkerStateMachine.StopReason.restartTogether, .quarantine] {
            #expect(WorkerStateMachine.StopReason.halt.overruled(by: group) == .halt)
            #expect(WorkerStateMachine.StopReason.restart.overruled(by: group) == .restart)
            #expect(group.overruled(by: .halt) == .halt)
            #expect(group.overruled(by: .restart) == .restart)
        }
        #expect(WorkerStateMachine.StopReason.halt.overruled(by: .restart) == .restart)
        #expect(WorkerStateMachine.StopReason.restart.overruled(by: .halt) == .halt)
        #expect(WorkerStateMachine.StopReason.restartTogether.overruled(by: .quarantine) == .quarantine)
    }

    @Test(arguments: states)
    func revivesOnlyConfiguredWorkers(state: State) {
        var worker = worker(state)
        worker.history.waits = 3
        worker.revive()
        #expect(worker.state == ([.quarantined, .finished, .stopped].contains(state) ? .idle : state))
        #expect(worker.history == RestartPolicy.History())
    }

    /// OTP: a temporary child that is terminated because of a sibling is not restarted.
    @Test func temporaryWorkerDoesNotRestartWithGroup() {
        var worker = WorkerStateMachine(shell("w", "", .temporary), state: .running(isReady: true))
        #expect(worker.stop(.restartTogether) == .terminate)
        #expect(worker.exited() == .stopped(.restartTogether))
        #expect(worker.state == .finished)
    }
}
