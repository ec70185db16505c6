import BotKit

/// A thing did not happen in its time.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package let limit: Duration

    package var description: String { "not done within \(limit.configurationText)" }
}

/// Runs something that heeds cancellation, for so long at most; throws ``DeadlineExceeded`` when it took longer.
package func withDeadline<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await ContinuousClock().sleep(for: limit)
            throw DeadlineExceeded(limit: limit)
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
