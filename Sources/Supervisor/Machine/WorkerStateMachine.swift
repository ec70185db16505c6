/// State machine of one worker: inputs return actions.
struct WorkerStateMachine: Equatable {
    /// The reason why a running worker was told to stop; determines what follows its exit.
    enum StopReason: Equatable, CaseIterable {
        /// The supervisor is shutting down.
        case drain
        /// It restarts together with another worker.
        case restartTogether
        /// Its restart group failed too often.
        case quarantine
        /// An operator restarted it.
        case restart
        /// An operator stopped it.
        case halt
        /// Its account was removed from the configuration.
        case remove

        /// Returns the effective reason when a second one comes before the exit: shutdown and removal take precedence,
        /// then the operator's latest command, then the newest reason.
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
        /// The process was requested but has not started yet; keeps a stop that came meanwhile.
        case spawning(stop: StopReason?)
        case running(isReady: Bool)
        case stopping(StopReason)
        /// Ended; waiting before the next start.
        case backingOff
        /// Stopped to be restarted with others; waiting for them.
        case held
        case quarantined
        /// Ended, and not to be restarted.
        case finished
        /// Stopped by an operator.
        case stopped
        /// Its account is no longer in the configuration.
        case removed
    }

    enum StopAction: Equatable {
        case none
        case terminate
        /// No process runs; the stop is complete.
        case stopped
    }

    enum ExitAction: Equatable {
        /// It failed or ended without being told to: the restart policy decides.
        case judge
        /// It ended because it was told to stop.
        case stopped(StopReason)
    }

    var specification: WorkerSpecification
    private(set) var state: State
    /// Number of starts; identifies timers and answers of earlier runs.
    private(set) var generation = 0
    var history = RestartPolicy.History()
    var liveness = LivenessTracker()
    var record = WorkerRecord()

    init(_ specification: WorkerSpecification, state: State = .idle) {
        self.specification = specification
        self.state = state
    }

    /// Whether a process exists or is about to start.
    var isAlive: Bool {
        switch state {
        case .spawning, .running, .stopping: true
        case .idle, .backingOff, .held, .quarantined, .finished, .stopped, .removed: false
        }
    }

    /// Whether its state no longer changes without an operator.
    var isOver: Bool {
        switch state {
        case .quarantined, .finished, .stopped, .removed: true
        case .idle, .spawning, .running, .stopping, .backingOff, .held: false
        }
    }

    var isRunning: Bool { if case .running = state { true } else { false } }
}

extension WorkerStateMachine {
    /// Requests a process; returns false if it has one or must not have one.
    mutating func start() -> Bool {
        switch state {
        case .idle, .backingOff, .held:
            generation += 1
            state = .spawning(stop: nil)
            liveness = LivenessTracker()
            record.began()
            return true
        case .spawning, .running, .stopping, .quarantined, .finished, .stopped, .removed:
            return false
        }
    }

    /// Allows a worker that is over to start again at an operator's request, with its failures cleared.
    mutating func revive() {
        history = RestartPolicy.History()
        switch state {
        case .quarantined, .finished, .stopped: state = .idle
        case .idle, .spawning, .running, .stopping, .backingOff, .held, .removed: break
        }
    }

    /// Notes that the process exists; returns whether it must be told to stop at once.
    mutating func spawned() -> Bool {
        guard case .spawning(let stop) = state else { return false }
        guard let stop else {
            state = .running(isReady: false)
            return false
        }
        state = .stopping(stop)
        return true
    }

    /// Notes that the worker reports ready; returns true the first time in a run.
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
            // A final state only changes when the account is removed.
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

    /// Applies the policy's verdict after `exited()` returned `judge`.
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
        // As in OTP, a temporary worker that is stopped because of another one does not restart.
        case .restartTogether: state = specification.restart == .temporary ? .finished : .held
        case .quarantine: state = .quarantined
        case .restart: state = .held
        case .halt: state = .stopped
        case .remove: state = .removed
        }
    }
}
