package import Logging
import NetworkAddresses
package import Nostr
package import PikaCore
import RelayClient
import Storage

/// The states of the accounts in a state directory.
package struct LocalAccountHost: AccountHost {
    private let accounts: AccountDirectory
    private let logger: Logger

    /// - Parameter accounts: created if it does not exist.
    package init(accounts: AccountDirectory, logger: Logger) {
        self.accounts = accounts
        self.logger = logger
    }

    package func withState(of account: PublicKey, _ body: () async throws -> Void) async throws {
        let folder = accounts.folder(of: account)
        try PrivateFolder.create(folder)
        let sealingKey = try SealingKey.loadOrCreate(file: "\(folder)/sealing.key")
        let store = try AccountStore.open(directory: folder, sealingKey: sealingKey, account: account)
        defer {
            do { try store.close() } catch {
                logger.warning("Closing the account's store failed", metadata: ["error": "\(error)"])
            }
        }
        _ = try await store.load()
        try await body()
    }

    package func openSigner(client: KeyPair) async throws -> SignerResources {
        let pool = try RelayPool(
            signer: AccountKey.local(client).relaySigner(SystemClock()), addresses: .unrestricted, logger: logger)
        return SignerResources(transport: pool, run: { try await pool.run() })
    }

    package func wipe(_ account: PublicKey) async throws { try accounts.wipe(account) }
}

extension AccountLogin {
    /// Creates logins of the accounts of a state directory.
    package init(accounts: AccountDirectory, clock: any CoreClock = SystemClock(), logger: Logger) {
        self.init(
            identities: accounts, host: LocalAccountHost(accounts: accounts, logger: logger), clock: clock,
            logger: logger)
    }
}
