import BotRuntime
import Synchronization

/// A step of the demo did not succeed.
struct DemoFailure: Error, CustomStringConvertible {
    let step: String
    let reason: String

    var description: String { "the demo failed when it was to \(step): \(reason)" }
}

/// Runs the demo's steps, each under a deadline, and knows which one it is at.
final class DemoSteps: Sendable {
    private let current = Mutex("begin")

    func run<Result: Sendable>(
        _ step: String, within limit: Duration = .seconds(10),
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        current.withLock { $0 = step }
        return try await withDeadline(limit, body)
    }

    /// The failure of the current step.
    func failure(_ error: any Error) -> DemoFailure {
        let reason = error is CancellationError ? "interrupted" : String(describing: error)
        return DemoFailure(step: current.withLock { $0 }, reason: reason)
    }
}
