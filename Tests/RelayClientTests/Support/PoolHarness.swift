import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore

@testable import RelayClient

/// Reads a pool's updates in order.
final class UpdateReader {
    private let updates: AsyncStream<RelayUpdate>
    private(set) var seen: [RelayUpdate] = []

    init(_ pool: RelayPool) {
        updates = pool.updates
    }

    func next() async -> RelayUpdate? {
        var iterator = updates.makeAsyncIterator()
        let update = await iterator.next()
        if let update { seen.append(update) }
        return update
    }

    /// Returns the first matching update, skipping others.
    @discardableResult
    func first(where matches: (RelayUpdate) -> Bool) async -> RelayUpdate? {
        while let update = await next() {
            if matches(update) { return update }
        }
        return nil
    }

    func wait(for update: RelayUpdate) async {
        await first { $0 == update }
    }

    /// Returns this many events, in the order of arrival.
    func events(_ count: Int) async -> [Event] {
        var events: [Event] = []
        while events.count < count, let update = await next() {
            if case .event(_, _, let event) = update { events.append(event) }
        }
        return events
    }

    /// Returns the reason of the next disconnection.
    func reasonOfLoss() async -> String? {
        while let update = await next() {
            if case .state(_, .retrying(_, let reason)) = update { return reason }
        }
        return nil
    }
}

/// Runs a pool while `body` runs, and shuts it down.
func withPool<Value: Sendable>(
    signer: RelayPool.Signer? = nil, addresses: AddressGuard = .unrestricted,
    clock: some Clock<Duration> = ContinuousClock(),
    configure: (inout TransportConfiguration) -> Void = { _ in },
    _ body: (RelayPool, UpdateReader) async throws -> Value
) async throws -> Value {
    var configuration = TransportConfiguration()
    configuration.backoff = Backoff(base: .milliseconds(10), cap: .milliseconds(50))
    configure(&configuration)
    let pool = try RelayPool(
        configuration: configuration, signer: signer, addresses: addresses, clock: clock,
        generator: SplitMix64(seed: 5),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await pool.run() }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(pool, UpdateReader(pool)))
        } catch {
            result = .failure(error)
        }
        await pool.shutdown()
        try await group.waitForAll()
        return try result.get()
    }
}

extension RelayPool {
    func publishAll(_ event: Event, to relays: [RelayURL]) async -> [RelayURL: PublishReport.Outcome] {
        var outcomes: [RelayURL: PublishReport.Outcome] = [:]
        for await report in publish(event, to: relays) { outcomes[report.relay] = report.outcome }
        return outcomes
    }
}
