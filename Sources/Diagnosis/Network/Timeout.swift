/// Runs `body` with a timeout; `body` must respond to cancellation.
///
/// Throws the errors of `body`, and `late` on a timeout.
package func withTimeout<Value: Sendable>(
    _ limit: Duration, late: any Error = NetworkError("timed out"),
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await ContinuousClock().sleep(for: limit)
            throw late
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
    }
}
