package import Logging
package import Nostr

/// Runs a relay for as long as `body` does, and stops it before returning.
///
/// - Parameters:
///   - now: the relay's clock; nil for the wall clock.
///   - body: called with the relay and its WebSocket address once it listens.
package func withEmbeddedRelay<Value: Sendable>(
    configuration: RelayConfiguration = RelayConfiguration(), logger: Logger? = nil,
    now: (@Sendable () -> UnixTime)? = nil,
    _ body: (_ relay: Relay, _ address: String) async throws -> Value
) async throws -> Value {
    let relay = Relay(configuration: configuration, logger: logger, now: now)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await relay.run() }
        let result: Result<Value, any Error>
        do {
            let port = try await relay.waitUntilListening()
            result = .success(try await body(relay, "ws://\(configuration.host):\(port)"))
        } catch {
            result = .failure(error)
        }
        // Cancellation shuts the relay down gracefully; waiting for it surfaces its errors.
        group.cancelAll()
        try await group.waitForAll()
        return try result.get()
    }
}
