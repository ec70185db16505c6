import Logging
import Nostr
import PikaCore
import ServiceLifecycle

/// Where an account's key is.
extension Worker {
    /// An account's key, and the service that must run for it if it is elsewhere.
    struct HeldKey: Sendable {
        let key: AccountKey
        let bunker: BunkerConnection?
    }

    /// The key itself, or the way to whoever holds it. A signer that never said whose key it holds is waited for; nil
    /// if the worker is told to end meanwhile.
    func holdKey(_ directory: String, clock: SystemClock) async throws -> HeldKey? {
        guard case .bunker = account.key else { return HeldKey(key: .local(try loadKeys()), bunker: nil) }
        let url: BunkerURL
        do { url = try account.key.loadBunker(environment: environment) } catch {
            throw WorkerError(.noKey, "account \(account.name) has no remote signer", cause: error)
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
        return HeldKey(key: .remote(owner, bunker.signer), bunker: bunker)
    }

    /// Ends when the signer has said whose key it holds, which is in the file then, or when the worker is to end.
    private func meet(_ url: BunkerURL, _ identity: BunkerIdentity, _ file: String, _ clock: SystemClock) async throws {
        let bunker = try BunkerConnection(url, identity, clock: clock, logger: logger)
        let contact = FirstContact(signer: bunker.signer, clock: clock, logger: logger) { account in
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
