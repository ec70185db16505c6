package import Logging
package import PikaCore
import ServiceLifecycle
import Synchronization

/// Runs a core; on a graceful shutdown, until its outbox is empty or the deadline has passed.
///
/// Events that remain in the outbox are durable, and are sent after the next start.
package struct CoreService: Service {
    private let core: AppCore
    private let clock: any CoreClock
    private let deadline: Duration
    private let logger: Logger
    private let noted = CoreFailure()

    /// - Parameter deadline: limits how long a shutdown waits for relays.
    package init(core: AppCore, clock: any CoreClock, deadline: Duration, logger: Logger) {
        self.core = core
        self.clock = clock
        self.deadline = deadline
        self.logger = logger
    }

    private enum Ending: Sendable {
        case core, drained, late
    }

    /// The error that ended the core, if it was not told to end. Dependent services may notice the end earlier, but
    /// their errors are less informative.
    package var failure: (any Error)? { noted.failure.withLock { $0 } }

    package func run() async throws {
        try await withThrowingTaskGroup(of: Ending.self) { group in
            group.addTask {
                do { try await core.run() } catch {
                    if !(error is CancellationError) { noted.failure.withLock { $0 = error } }
                    throw error
                }
                return .core
            }
            group.addTask {
                try await gracefulShutdown()
                core.prepareForExit()
                return try await drain()
            }
            let ending = try await group.next()
            group.cancelAll()
            if ending == .late {
                let pending = await core.state.outbox.pending
                logger.warning("Ended with unacknowledged events", metadata: ["outbox.pending": "\(pending)"])
            }
            // The core ends by cancellation here, which is not a failure.
            try? await group.waitForAll()
        }
    }

    private func drain() async throws -> Ending {
        let end = clock.nowMilliseconds + Int64(deadline / .milliseconds(1))
        return try await withThrowingTaskGroup(of: Ending.self) { group in
            group.addTask {
                await emptyOutbox()
                return .drained
            }
            group.addTask {
                try await clock.sleep(untilMilliseconds: end)
                return .late
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .drained
        }
    }

    /// Returns when all earlier inputs are processed and the outbox is empty.
    private func emptyOutbox() async {
        let request = RequestID(rawValue: "drain")
        let updates = core.updates()
        // The core processes inputs in order: once this no-op is answered, all completed events are in the outbox.
        core.dispatch(.clearToast, request: request)
        var isAnswered = false
        var pending = 0
        for await update in updates {
            switch update {
            case .fullState(let state): pending = state.outbox.pending
            case .finished(_, request, _): isAnswered = true
            case .finished, .delivery: break
            }
            if isAnswered, pending == 0 { return }
        }
    }
}

private final class CoreFailure: Sendable {
    let failure = Mutex<(any Error)?>(nil)
}
