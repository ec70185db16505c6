import Synchronization

/// The status of a program, for operators.
package struct ProgramStatus: Sendable, Hashable {
    package enum State: String, Sendable {
        case running
        /// Waits for its next start.
        case waiting
        /// Failed too often; it is restarted only together with the account.
        case quarantined
        /// Has exited, and is not restarted according to its configuration.
        case finished
    }

    /// The bot's name.
    package var name: String
    package var state: State
    /// Unix milliseconds when the current process started.
    package var since: Int64?
    /// The number of starts after the first.
    package var restarts: Int
    /// Events for the program that it has not acknowledged yet.
    package var waiting: Int64
}

/// The status as recorded by the program's service.
final class ProgramMonitor: Sendable {
    private struct Content {
        var state = ProgramStatus.State.waiting
        var since: Int64?
        var starts = 0
        var waiting: @Sendable () async -> Int64 = { 0 }
    }

    private let content = Mutex(Content())

    /// Sets the function that counts waiting events.
    func setWaitingCount(_ waiting: @escaping @Sendable () async -> Int64) { content.withLock { $0.waiting = waiting } }

    func started(at milliseconds: Int64) {
        content.withLock { content in
            content.state = .running
            content.since = milliseconds
            content.starts += 1
        }
    }

    func exited() {
        content.withLock { content in
            content.state = .waiting
            content.since = nil
        }
    }

    func finished(as state: ProgramStatus.State) { content.withLock { $0.state = state } }

    func status(of name: String) async -> ProgramStatus {
        let content = content.withLock { $0 }
        return ProgramStatus(
            name: name, state: content.state, since: content.since, restarts: max(0, content.starts - 1),
            waiting: await content.waiting())
    }
}

extension ExternalBot {
    /// The current status.
    package var status: ProgramStatus { get async { await monitor.status(of: label) } }
}
