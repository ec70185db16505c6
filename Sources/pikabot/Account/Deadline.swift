/// A thing did not happen in its time.
struct DeadlineExceeded: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "not done within \(limit.inSeconds)" }
}

/// Runs `body`, and cancels it when it takes longer than `limit`.
func withDeadline<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw DeadlineExceeded(limit: limit)
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw CancellationError() }
        return result
    }
}
