import BotRuntime
import Synchronization

/// Failure of a step of the demo.
struct DemoFailure: Error, CustomStringConvertible {
    let step: String
    let reason: String

    var description: String { "the demo failed to \(step): \(reason)" }
}

/// Runs the demo's steps, each with a deadline, and keeps track of the current one.
final class DemoSteps: Sendable {
    private let current = Mutex("begin")

    func run<Result: Sendable>(
        _ step: String, within limit: Duration = .seconds(10),
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        current.withLock { $0 = step }
        return try await withDeadline(limit, body)
    }

    /// Returns the error with the current step's name.
    func failure(_ error: any Error) -> DemoFailure {
        let reason = error is CancellationError ? "interrupted" : String(describing: error)
        return DemoFailure(step: current.withLock { $0 }, reason: reason)
    }
}
