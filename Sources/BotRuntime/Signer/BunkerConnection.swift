import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import ServiceLifecycle

/// A remote signer and its connections, which are used only for it.
struct BunkerConnection: Service {
    let signer: BunkerSigner
    private let pool: RelayPool

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
    func shutdown() async { await self.pool.shutdown() }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.signer.run() }
            try await self.pool.run()
            try await group.waitForAll()
        }
    }
}

/// Asks a new signer whose key it holds, until it answers or refuses, or the worker is told to end.
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
