import Logging
import Nostr
import PikaCore
import Storage

extension Worker {
    /// How often a directory that another process holds is tried again.
    private static let lockPause: Int64 = 100

    /// Opens the store; a directory in use is waited for as long as the worker of a supervisor that was killed may
    /// drain. Nil if this worker's own supervisor goes meanwhile.
    func openStoreWhenFree(of account: PublicKey, _ clock: SystemClock) async throws -> AccountStore? {
        let patience = configuration.supervisor.drain + .seconds(2)
        let end = clock.nowMilliseconds + Int64(patience / .milliseconds(1))
        var isFirst = true
        while true {
            do {
                return try openStore(of: account)
            } catch let error as StoreError where error.code == .locked && clock.nowMilliseconds < end {
                if isFirst {
                    logger.notice("Waiting for the state directory", metadata: ["reason": "\(error.message)"])
                }
                isFirst = false
            }
            guard !channel.hasEnded else { return nil }
            try await clock.sleep(untilMilliseconds: clock.nowMilliseconds + Self.lockPause)
        }
    }

    private func openStore(of account: PublicKey) throws -> AccountStore {
        if options.sealingKeyFile == nil { try PrivateFolder.create(directory) }
        let key = try SealingKey.loadOrCreate(file: options.sealingKeyFile ?? "\(directory)/sealing.key")
        return try AccountStore.open(directory: directory, sealingKey: key, account: account)
    }
}
