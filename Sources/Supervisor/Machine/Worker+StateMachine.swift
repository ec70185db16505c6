/// The life of one worker as a value: every input returns what must be done, and nothing here does it.
struct Worker: Equatable {
    /// Why a running worker was asked to stop, which decides what follows its exit.
    enum StopReason: Equatable, CaseIterable {
        /// The supervisor is shutting down.
        case drain
        /// It is restarted together with another one.
        case restartTogether
        /// The group it belongs to failed too often.
        case quarantine
        /// An operator wants a new process.
        case restart
        /// An operator wants none.
        case halt
        /// Its account left the configuration.
        case remove

        /// Which reason holds when a second one comes before the end: a shutdown and a removal above all, then what
        /// an operator said last, then the newest.
        func overruled(by newer: StopReason) -> StopReason {
            switch (self, newer) {
            case (.drain, _), (_, .drain): .drain
            case (.remove, _), (_, .remove): .remove
            case (.halt, .restartTogether), (.halt, .quarantine), (.restart, .restartTogether),
                (.restart, .quarantine):
                self
            default: newer
            }
        }
    }

    enum State: Equatable {
        case idle
        /// The process was asked for but has not been seen yet; a stop that came meanwhile is kept.
        case spawning(stop: StopReason?)
        case running(isReady: Bool)
        case stopping(StopReason)
        /// Ended; the wait before the next start runs.
        case backingOff
        /// Stopped to be restarted with others; waits for them.
        case held
        case quarantined
        /// Ended, not to be started again.
        case finished
        /// Stopped by an operator.
        case stopped
        /// Its account is in the configuration no more.
        case removed
    }

    enum StopAction: Equatable {
        case none
        case terminate
        /// Nothing runs; the stop is complete.
        case stopped
    }

    enum ExitAction: Equatable {
        /// It failed or ended by itself: the policy decides.
        case judge
        /// It ended because it was told to.
        case stopped(StopReason)
    }

    var specification: WorkerSpecification
    private(set) var state: State
    /// Counts starts; a timer or an answer of an earlier life is recognised by it.
    private(set) var generation = 0
    var history = RestartPolicy.History()
    var pulse = Pulse()
    var record = WorkerRecord()

    init(_ specification: WorkerSpecification, state: State = .idle) {
        self.specification = specification
        self.state = state
    }

    /// Whether a process exists or is about to.
    var isAlive: Bool {
        switch state {
        case .spawning, .running, .stopping: true
        case .idle, .backingOff, .held, .quarantined, .finished, .stopped, .removed: false
        }
    }

    /// Whether nothing will happen to it any more by itself.
    var isOver: Bool {
        switch state {
        case .quarantined, .finished, .stopped, .removed: true
        case .idle, .spawning, .running, .stopping, .backingOff, .held: false
        }
    }

    var isRunning: Bool { if case .running = state { true } else { false } }
}

extension Worker {
    /// Asks for a process; false when it has one or must not have one.
    mutating func start() -> Bool {
        switch state {
        case .idle, .backingOff, .held:
            generation += 1
            state = .spawning(stop: nil)
            pulse = Pulse()
            record.began()
            return true
        case .spawning, .running, .stopping, .quarantined, .finished, .stopped, .removed:
            return false
        }
    }

    /// An operator wants a process: one that is over may start again, with a clean record of failures.
    mutating func revive() {
        history = RestartPolicy.History()
        switch state {
        case .quarantined, .finished, .stopped: state = .idle
        case .idle, .spawning, .running, .stopping, .backingOff, .held, .removed: break
        }
    }

    /// The process exists; returns whether it must be told to stop at once.
    mutating func spawned() -> Bool {
        guard case .spawning(let stop) = state else { return false }
        guard let stop else {
            state = .running(isReady: false)
            return false
        }
        state = .stopping(stop)
        return true
    }

    /// The worker says it is ready; true the first time in a life.
    mutating func becameReady() -> Bool {
        guard state == .running(isReady: false) else { return false }
        state = .running(isReady: true)
        history.waits = 0
        record.wasEverReady = true
        return true
    }

    mutating func stop(_ reason: StopReason) -> StopAction {
        switch state {
        case .spawning(let earlier):
            state = .spawning(stop: earlier?.overruled(by: reason) ?? reason)
            return .none
        case .running:
            state = .stopping(reason)
            return .terminate
        case .stopping(let earlier):
            state = .stopping(earlier.overruled(by: reason))
            return .none
        case .idle, .backingOff, .held:
            settle(reason)
            return .stopped
        case .quarantined, .finished, .stopped:
            // What is over stays as it is, unless its account leaves.
            if reason == .remove { state = .removed }
            return .none
        case .removed:
            return .none
        }
    }

    mutating func exited() -> ExitAction {
        switch state {
        case .stopping(let reason), .spawning(stop: .some(let reason)):
            settle(reason)
            return .stopped(reason)
        case .spawning, .running:
            return .judge
        case .idle, .backingOff, .held, .quarantined, .finished, .stopped, .removed:
            preconditionFailure("a worker without a process ended")
        }
    }

    /// Takes the policy's verdict after `exited()` said `judge`.
    mutating func apply(_ verdict: RestartPolicy.Verdict) {
        switch verdict {
        case .restart: state = .backingOff
        case .quarantine: state = .quarantined
        case .leave: state = .finished
        }
    }

    private mutating func settle(_ reason: StopReason) {
        switch reason {
        case .drain: state = .finished
        // As in OTP, a temporary worker that is stopped for another's sake does not come back.
        case .restartTogether: state = specification.restart == .temporary ? .finished : .held
        case .quarantine: state = .quarantined
        case .restart: state = .held
        case .halt: state = .stopped
        case .remove: state = .removed
        }
    }
}
