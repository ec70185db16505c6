/// What `body` gives, if it does so in time; it must heed cancellation. Throws ``NetworkError`` when the time is over.
func inTime<Value: Sendable>(
    _ limit: Duration, late: String = "no answer in time", _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw NetworkError(late)
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
    }
}
