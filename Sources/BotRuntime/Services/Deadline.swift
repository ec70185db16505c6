import BotKit
import Diagnosis

/// A thing did not happen in its time.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package let limit: Duration

    package var description: String { "not done within \(limit.configurationText)" }
}

/// Runs something that heeds cancellation, for so long at most; throws ``DeadlineExceeded`` when it took longer.
package func withDeadline<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await inTime(limit, late: DeadlineExceeded(limit: limit), body)
}
