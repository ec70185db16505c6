import BotConfiguration
import Errors
import Logging
import Nostr
import PikaCore
import ServiceLifecycle

/// Access to an account's key.
extension Worker {
    /// Returns the key or its remote signer. If the signer has never named its account, waits until it does; nil if the
    /// worker is told to end meanwhile.
    func holdKey(_ directory: String, clock: SystemClock) async throws -> HeldKey? {
        guard case .bunker = account.key else { return HeldKey(try loadKeys()) }
        let url: BunkerURL
        do { url = try account.key.loadBunker(environment: environment) } catch {
            throw WorkerError(
                .noKey, "account \(account.name): cannot load the address of the remote signer", cause: error)
        }
        try PrivateFolder.create(directory)
        let file = "\(directory)/\(BunkerIdentity.fileName)"
        var identity = try BunkerIdentity.loadOrCreate(file: file, for: url)
        if identity.account == nil {
            try await self.meet(url, identity, file, clock)
            identity = try BunkerIdentity.loadOrCreate(file: file, for: url)
        }
        guard let owner = identity.account else { return nil }
        let bunker = try BunkerConnection(url, identity, clock: clock, logger: logger)
        return HeldKey(owner, bunker)
    }

    /// Returns when the signer has named its account, which is saved by then, or when the worker is told to end.
    private func meet(_ url: BunkerURL, _ identity: BunkerIdentity, _ file: String, _ clock: SystemClock) async throws {
        let bunker = try BunkerConnection(url, identity, clock: clock, logger: logger)
        let contact = SignerHandshake(signer: bunker.signer, clock: clock, logger: logger) { account in
            var identity = identity
            identity.account = account
            try identity.save(file)
        }
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: bunker),
            .init(service: contact, successTerminationBehavior: .gracefullyShutdownGroup),
        ]
        if options.endsWithStandardInput {
            services.append(
                .init(service: EndOfInput(channel: channel), successTerminationBehavior: .gracefullyShutdownGroup))
        }
        try await self.run(services)
    }

    private func loadKeys() throws(WorkerError) -> KeyPair {
        do { return try account.key.loadKeyPair(environment: environment) } catch {
            throw WorkerError(.noKey, "account \(account.name) has no key", cause: error)
        }
    }
}
