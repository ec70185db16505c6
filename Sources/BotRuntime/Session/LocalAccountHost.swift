import BlossomClient
package import Logging
import NetworkAddresses
package import Nostr
package import PikaCore
import RelayClient
import Storage

/// The resources of the accounts in a state directory, each with its own store and WebSocket connections.
package struct LocalAccountHost: AccountHost {
    private let accounts: AccountDirectory
    private let allowsPrivateAddresses: Bool
    private let logger: Logger

    /// - Parameters:
    ///   - accounts: created if it does not exist.
    ///   - allowsPrivateAddresses: whether relays and media servers named by others may have private addresses.
    package init(accounts: AccountDirectory, allowsPrivateAddresses: Bool = false, logger: Logger) {
        self.accounts = accounts
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.logger = logger
    }

    package func open(_ key: AccountKey) async throws -> AccountResources {
        let folder = accounts.folder(of: key.publicKey)
        try PrivateFolder.create(folder)
        let sealingKey = try SealingKey.loadOrCreate(file: "\(folder)/sealing.key")
        let store = try AccountStore.open(directory: folder, sealingKey: sealingKey, account: key.publicKey)
        let addresses = AddressGuard(allowsPrivate: allowsPrivateAddresses)
        let pool: RelayPool
        do {
            pool = try RelayPool(
                signer: key.relaySigner(SystemClock()), addresses: addresses, crashes: store.crashes, logger: logger)
        } catch {
            try? store.close()
            throw error
        }
        let (media, logger) = (BlossomClient(addresses: addresses, logger: logger), logger)
        return AccountResources(
            store: store, transport: pool, media: media, cache: store.mediaCache(.standard, logger: logger),
            run: { try await pool.run() },
            close: {
                do { try await media.shutdown() } catch {
                    logger.warning("Closing the media client failed", metadata: ["error": "\(error)"])
                }
                do { try store.close() } catch {
                    logger.warning("Closing the account's store failed", metadata: ["error": "\(error)"])
                }
            })
    }

    package func openSigner(client: KeyPair) async throws -> SignerResources {
        let pool = try RelayPool(
            signer: AccountKey.local(client).relaySigner(SystemClock()), addresses: .unrestricted, logger: logger)
        return SignerResources(transport: pool, run: { try await pool.run() })
    }

    package func wipe(_ account: PublicKey) async throws { try accounts.wipe(account) }
}
