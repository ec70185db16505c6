import Errors
import NIOCore
import Nostr
import RelayClient

/// The connections of an examination to one relay, which it opens as needed; used by one task.
final class RelayConnections {
    private(set) var all: [RelayWire] = []
    private let relay: RelayURL
    private let login: RelayPool.Signer
    private let trustRootFiles: [String]
    private let opened: AsyncStream<RelayWire>.Continuation

    private init(
        _ relay: RelayURL, login: @escaping RelayPool.Signer, trustRootFiles: [String],
        opened: AsyncStream<RelayWire>.Continuation
    ) {
        (self.relay, self.login, self.trustRootFiles, self.opened) = (relay, login, trustRootFiles, opened)
    }

    /// Serves the connections that `body` opens, and ends them after it.
    ///
    /// - Parameter login: Answers login challenges (NIP-42).
    static func serve<Value: Sendable>(
        _ relay: RelayURL, login: @escaping RelayPool.Signer, trustRootFiles: [String] = [],
        during body: @Sendable (RelayConnections) async -> Value
    ) async -> Value {
        let (wires, opened) = AsyncStream.makeStream(of: RelayWire.self)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await wire in wires { group.addTask { await wire.serve() } }
                }
            }
            let connections = RelayConnections(relay, login: login, trustRootFiles: trustRootFiles, opened: opened)
            let value = await body(connections)
            for wire in connections.all { wire.close() }
            opened.finish()
            group.cancelAll()
            await group.waitForAll()
            for wire in connections.all { await wire.discard() }
            return value
        }
    }

    /// Connects within the limit. Throws ``NetworkError``.
    func open(_ address: SocketAddress, within limit: Duration) async throws(NetworkError) -> RelayWire {
        var configuration = TransportConfiguration()
        configuration.connectTimeout = max(.milliseconds(1), limit)
        configuration.closeTimeout = TLSReach.closeTimeout
        configuration.maximumMessageBytes = WireLimits.messageBytes
        configuration.trustRootFiles = trustRootFiles
        do {
            let connector = try WebSocketConnector(
                configuration, generator: SharedGenerator(SystemRandomNumberGenerator()))
            let wire = RelayWire(try await connector.connect(to: relay, at: address), relay: relay, login: login)
            all.append(wire)
            opened.yield(wire)
            return wire
        } catch let error as TransportError {
            throw NetworkError(error.message)
        } catch {
            throw NetworkError(PlainText.of(Disconnection(connecting: error).text))
        }
    }

    /// Returns whether the relay has sent nothing at all.
    func isSilent() async -> Bool {
        for wire in all where await wire.tally.messages > 0 { return false }
        return true
    }

    /// Sums up what the relay has sent on all connections.
    func tally() async -> WireTally {
        var tally = WireTally()
        for wire in all { tally.add(await wire.tally) }
        return tally
    }
}
