import Errors
import Synchronization

/// Suspends tasks until the relay listens or has failed to start.
final class ListeningGate: Sendable {
    private enum State {
        case new
        case starting
        case listening(Int)
        case over(RelayError)
    }

    private struct Waiting {
        var state = State.new
        var next = 0
        var continuations: [Int: CheckedContinuation<Int, any Error>] = [:]
    }

    private let waiting = Mutex(Waiting())

    /// Throws `RelayError.Code.alreadyRun` unless this is the first call.
    func start() throws(RelayError) {
        let isFirst = waiting.withLock { waiting in
            guard case .new = waiting.state else { return false }
            waiting.state = .starting
            return true
        }
        guard isFirst else { throw RelayError(.alreadyRun, "a relay can run only once; create another one") }
    }

    func open(port: Int) {
        settle(.listening(port)) { $0.resume(returning: port) }
    }

    func end(_ error: RelayError) {
        settle(.over(error)) { $0.resume(throwing: error) }
    }

    private func settle(_ state: State, _ resume: (CheckedContinuation<Int, any Error>) -> Void) {
        let continuations = waiting.withLock { waiting in
            waiting.state = state
            defer { waiting.continuations = [:] }
            return waiting.continuations.values
        }
        continuations.forEach(resume)
    }

    func port() async throws -> Int {
        let ticket = waiting.withLock { waiting in
            waiting.next += 1
            return waiting.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, ticket) }
        } onCancel: {
            let continuation = waiting.withLock { $0.continuations.removeValue(forKey: ticket) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private func wait(_ continuation: CheckedContinuation<Int, any Error>, _ ticket: Int) {
        let result: Result<Int, any Error>? = waiting.withLock { waiting in
            switch waiting.state {
            case .listening(let port): return .success(port)
            case .over(let error): return .failure(error)
            case .new, .starting:
                // If the task was cancelled earlier, its cancellation handler has already run and found no waiter.
                if Task.isCancelled { return .failure(CancellationError()) }
                waiting.continuations[ticket] = continuation
                return nil
            }
        }
        if let result { continuation.resume(with: result) }
    }
}
