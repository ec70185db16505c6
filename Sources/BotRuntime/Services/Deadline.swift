/// What did not end in time.
struct DeadlineError: Error {}

/// Runs something that heeds cancellation, for so long at most; throws ``DeadlineError`` when it took longer.
func within<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await ContinuousClock().sleep(for: limit)
            throw DeadlineError()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw DeadlineError() }
        return value
    }
}
