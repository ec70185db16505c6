import BlossomClient
import Foundation
package import Logging
import NetworkAddresses
package import Nostr
package import PikaCore
import RelayClient
import Storage

/// The accounts of a session on this machine. Each has its own state folder, named by its public key, and WebSocket
/// connections.
package struct LocalAccountHost: AccountHost {
    private let directory: String
    private let allowsPrivateAddresses: Bool
    private let logger: Logger

    /// - Parameters:
    ///   - directory: contains the accounts' folders; created if it does not exist.
    ///   - allowsPrivateAddresses: whether relays and media servers named by others may have private addresses.
    package init(directory: String, allowsPrivateAddresses: Bool = false, logger: Logger) {
        self.directory = directory
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.logger = logger
    }

    package func open(_ key: AccountKey) async throws -> AccountResources {
        let folder = folder(of: key.publicKey)
        try PrivateFolder.create(folder)
        let sealingKey = try SealingKey.loadOrCreate(file: sealingKeyFile(folder))
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

    /// Deletes the account's state. The sealing key goes first: without it, leftovers of a failed deletion are
    /// unreadable.
    package func wipe(_ account: PublicKey) async throws {
        let folder = folder(of: account)
        guard FileManager.default.fileExists(atPath: folder) else { return }
        let lock = try StateDirectoryLock(directory: folder, program: "pikabot")
        defer { lock.release() }
        let file = sealingKeyFile(folder)
        if FileManager.default.fileExists(atPath: file) { try FileManager.default.removeItem(atPath: file) }
        try FileManager.default.removeItem(atPath: folder)
    }

    private func folder(of account: PublicKey) -> String { "\(directory)/\(account.hex)" }

    private func sealingKeyFile(_ folder: String) -> String { "\(folder)/sealing.key" }
}
