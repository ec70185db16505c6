import BotKit
import Diagnosis

/// An operation exceeded its deadline.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package let limit: Duration

    package var description: String { "exceeded the deadline of \(limit.configurationText)" }
}

/// Runs an operation under a deadline and throws ``DeadlineExceeded`` when it is exceeded. The operation must respond
/// to cancellation.
package func withDeadline<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withTimeout(limit, late: DeadlineExceeded(limit: limit), body)
}
