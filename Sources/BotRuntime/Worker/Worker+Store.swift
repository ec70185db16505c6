import BotConfiguration
import Logging
import Nostr
import PikaCore
import Storage

extension Worker {
    /// The interval of attempts to lock a directory that another process holds, in milliseconds.
    private static let lockPause: Int64 = 100

    /// Opens the store. Waits for a locked directory as long as the worker of a killed supervisor may drain. Nil if
    /// this worker's own supervisor ends meanwhile.
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

    private func report(_ crashes: CrashLedger) {
        for entry in crashes.quarantine {
            logger.error(
                "Quarantined because it crashed the worker repeatedly",
                metadata: [
                    "subject": "\(entry.subject)", "stage": "\(entry.stage.rawValue)", "deaths": "\(entry.deaths)",
                ])
        }
        if crashes.hasFailed {
            logger.warning(
                "The crash journal cannot be written; an input that crashes the worker would be retried forever")
        }
        #if DEBUG
            if let file = environment["PIKABOT_TRAP"] { crashes.set(.ofFile(file)) }
        #endif
    }

    private func openStore(of account: PublicKey) throws -> AccountStore {
        if options.sealingKeyFile == nil { try PrivateFolder.create(directory) }
        let key = try SealingKey.loadOrCreate(file: options.sealingKeyFile ?? "\(directory)/sealing.key")
        let store = try AccountStore.open(directory: directory, sealingKey: key, account: account)
        report(store.crashes)
        return store
    }
}
