import Errors
package import Logging
import NetworkAddresses
package import Nostr
package import PikaCore
import RelayClient
import ServiceLifecycle

/// A remote signer and its connections, which are used only for it.
package struct BunkerConnection: Service {
    package let signer: BunkerSigner
    private let pool: RelayPool

    /// Creates the connection of a client that the signer of this account knows already.
    package init(
        _ url: BunkerURL, account: PublicKey, client: KeyPair, clock: SystemClock, logger: Logger
    ) throws {
        try self.init(
            url, BunkerIdentity(clientKey: client, remoteSigner: url.remoteSigner, account: account), clock: clock,
            logger: logger)
    }

    init(
        _ url: BunkerURL, _ identity: BunkerIdentity, clock: SystemClock,
        timing: BunkerSigner.Timing = BunkerSigner.Timing(), logger: Logger
    ) throws {
        let client = identity.clientKey
        self.pool = try RelayPool(
            signer: AccountKey.local(client).relaySigner(clock), addresses: .unrestricted, logger: logger)
        self.signer = BunkerSigner(
            url, clientKey: client, account: identity.account, transport: self.pool, clock: clock, timing: timing,
            logger: logger)
    }

    /// Ends ``run()``.
    package func shutdown() async { await self.pool.shutdown() }

    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.signer.run() }
            try await self.pool.run()
            try await group.waitForAll()
        }
    }
}

/// Asks a new signer for its account until it answers or refuses, or the worker is told to end.
struct SignerHandshake: Service {
    let signer: BunkerSigner
    let clock: SystemClock
    let logger: Logger
    let found: @Sendable (PublicKey) throws -> Void

    private static let longestPause: Int64 = 60_000

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            var pause: Int64 = 1000
            while !Task.isCancelled {
                do {
                    try self.found(try await self.signer.connect())
                    return
                } catch let error as SignerError where error.code == .away {
                    if Task.isCancelled { return }
                    self.logger.warning(
                        "the account's remote signer is away; retrying",
                        metadata: ["reason": "\(error.message)", "seconds": "\(pause / 1000)"])
                } catch let error as SignerError {
                    throw WorkerError(.signerRefused, "the remote signer refuses this client", cause: error)
                }
                try? await self.clock.sleep(untilMilliseconds: self.clock.nowMilliseconds + pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }
}
