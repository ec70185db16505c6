import Errors
package import Logging
package import Nostr
import ServiceLifecycle
import Synchronization

/// A Nostr relay in this process: NIP-01, 09, 11, 40, 42, 45 and 70 over WebSocket, events in SQLite.
///
/// `run()` opens the store, listens, and returns after a graceful shutdown or a cancellation, once every client is
/// disconnected and the store is closed. A relay runs once; another one can open its file afterwards.
package final class Relay: Service {
    package let configuration: RelayConfiguration
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let gate = ListeningGate()
    private let running = Mutex<RelayCore?>(nil)

    /// - Parameters:
    ///   - logger: nil disables logging.
    ///   - now: the clock of expiration, logins and rate limits; nil for the wall clock.
    package init(
        configuration: RelayConfiguration = RelayConfiguration(), logger: Logger? = nil,
        now: (@Sendable () -> UnixTime)? = nil
    ) {
        self.configuration = configuration
        self.logger = logger ?? Logger(label: "relay") { _ in SwiftLogNoOpLogHandler() }
        self.now = now ?? { UnixTime.systemTime }
    }

    /// Throws `RelayError.Code.invalidConfiguration`, `RelayError.Code.storageFailed` or
    /// `RelayError.Code.bindFailed` when it cannot start.
    package func run() async throws {
        try gate.start()
        do {
            let server = try await start()
            gate.open(port: server.port)
            logger.info("Relay listening", metadata: ["host": "\(configuration.host)", "port": "\(server.port)"])
            await serve(server.core)
            running.withLock { $0 = nil }
            try await server.stop()
            logger.info("Relay stopped")
            gate.end(RelayError(.notListening, "the relay has stopped"))
        } catch {
            gate.end(RelayError(.notListening, "the relay failed", cause: error))
            throw error
        }
    }

    /// Returns the bound port; waits until `run()` listens.
    ///
    /// Throws `RelayError.Code.notListening` when the relay failed to start or has stopped.
    package func waitUntilListening() async throws -> Int {
        try await gate.port()
    }

    private func start() async throws -> RelayServer {
        try configuration.validate()
        let core = try RelayCore(configuration, logger: logger, now: now)
        do {
            let server = try await RelayServer.start(core)
            running.withLock { $0 = core }
            return server
        } catch {
            try? core.store.close()
            throw error
        }
    }

    /// Purges expired events periodically until the relay has to stop.
    private func serve(_ core: RelayCore) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.purgeRepeatedly(core) }
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            group.cancelAll()
        }
    }

    private func purgeRepeatedly(_ core: RelayCore) async {
        while !Task.isCancelled {
            do {
                let removed = try await core.store.purge(now: now())
                if removed > 0 { logger.debug("Expired events removed", metadata: ["events": "\(removed)"]) }
            } catch {
                logger.error("Expired events could not be removed", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: configuration.purgeInterval)
        }
    }
}

extension Relay {
    /// Connections of the running relay, WebSocket or HTTP; 0 when it is not running.
    package var connectionCount: Int { running.withLock { $0?.hub.connectionCount ?? 0 } }

    /// Tracks of calls, published or awaited; 0 when it is not running.
    package var callTrackCount: Int { running.withLock { $0?.calls.trackCount ?? 0 } }

    /// Live subscriptions of all clients; 0 when it is not running.
    package var subscriptionCount: Int { running.withLock { $0?.hub.subscriptionCount ?? 0 } }
}
