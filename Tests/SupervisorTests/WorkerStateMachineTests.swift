import Testing

@testable import Supervisor

struct WorkerStateMachineTests {
    typealias State = Worker.State

    static let states: [State] = [
        .idle, .spawning(stop: nil), .spawning(stop: .drain), .spawning(stop: .restartTogether),
        .spawning(stop: .quarantine), .running(isReady: false), .running(isReady: true), .stopping(.drain),
        .stopping(.restartTogether), .stopping(.quarantine), .backingOff, .held, .quarantined, .finished,
    ]

    func worker(_ state: State) -> Worker { Worker(shell("w", ""), state: state) }

    @Test(arguments: states)
    func startOnlyFromRest(state: State) {
        var worker = worker(state)
        let starts = [.idle, .backingOff, .held].contains(state)
        #expect(worker.start() == starts)
        #expect(worker.state == (starts ? .spawning(stop: nil) : state))
        #expect(worker.generation == (starts ? 1 : 0))
    }

    @Test(arguments: states)
    func spawnedRunsOrObeysTheStopThatCameBefore(state: State) {
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
    func readyCountsOnceAndOnlyWhileRunning(state: State) {
        var worker = worker(state)
        let isNews = state == .running(isReady: false)
        #expect(worker.becameReady() == isNews)
        #expect(worker.state == (isNews ? .running(isReady: true) : state))
        let again = worker.becameReady()
        #expect(!again)
    }

    @Test(arguments: states, [Worker.StopReason.drain, .restartTogether, .quarantine])
    func stop(state: State, reason: Worker.StopReason) {
        var worker = worker(state)
        let action = worker.stop(reason)
        let settled: [Worker.StopReason: State] = [
            .drain: .finished, .restartTogether: .held, .quarantine: .quarantined,
        ]
        switch state {
        case .spawning:
            #expect(action == .none)
            #expect(worker.state == .spawning(stop: reason))
        case .running:
            #expect(action == .terminate)
            #expect(worker.state == .stopping(reason))
        case .stopping(let earlier):
            #expect(action == .none)
            #expect(worker.state == .stopping(earlier == .drain ? .drain : reason))
        case .idle, .backingOff, .held:
            #expect(action == .stopped)
            #expect(worker.state == settled[reason])
        case .quarantined, .finished:
            #expect(action == .none)
            #expect(worker.state == state)
        }
    }

    @Test(arguments: states.filter { Worker(shell("w", ""), state: $0).isAlive })
    func exitIsJudgedUnlessItWasAskedFor(state: State) {
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
        default:
            #expect(action == .judge)
            #expect(worker.state == state)
        }
    }

    @Test func verdictsBecomeStates() {
        var worker = worker(.running(isReady: true))
        worker.apply(.restart(after: .zero))
        #expect(worker.state == .backingOff)
        worker.apply(.leave)
        #expect(worker.state == .finished)
        worker.apply(.quarantine)
        #expect(worker.state == .quarantined)
    }

    @Test func aliveAndOverPartitionWithRest() {
        #expect(Self.states.filter { worker($0).isAlive }.count == 9)
        #expect(Self.states.filter { worker($0).isOver } == [.quarantined, .finished])
    }
}
