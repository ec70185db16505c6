import Dispatch
import Foundation
import Logging
import NIOCore
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Storage

/// Provides agents with their state and connections; an agent's state survives until its next start.
actor AgentHost {
    private let state: LoadPlan.StateKind
    private let directory: String
    private let logger: Logger
    /// Shared, because all members of a group receive the same events.
    private let verified = VerifiedSignatures(capacity: 65_536)
    private var memories: [Int: AgentMemory] = [:]
    /// Queues on which the agents access their databases; a few commits at a time keep a disk busy.
    private let databaseQueues = (0..<4).map { DispatchQueue(label: "pikabot.load.database.\($0)") }
    /// Queue on which databases are created. Creating them on the event loops delays the agents that are starting there.
    private let creationQueue = DispatchQueue(label: "pikabot.load.creation")

    /// - Parameter directory: folder of the agents' databases.
    init(state: LoadPlan.StateKind, directory: String, logger: Logger) {
        self.state = state
        self.directory = directory
        self.logger = logger
    }

    /// Throws if the folder is not empty, because the state of another run belongs to other accounts.
    static func requireEmpty(_ directory: String) throws(LoadError) {
        let found = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        guard found.isEmpty else {
            throw LoadError(
                .stateInUse,
                "the folder \(directory) for the agents' databases is not empty, but every run creates new accounts; "
                    + "use an empty or a new folder")
        }
    }

    /// An agent's open store.
    struct OpenStore: Sendable {
        let store: any CoreStore
        /// Frees memory once the agent has started.
        let rest: @Sendable () -> Void
        let close: @Sendable () -> Void
    }

    func openStore(_ index: Int, account: PublicKey) async throws -> OpenStore {
        switch state {
        case .memory:
            let store = memories[index] ?? AgentMemory()
            memories[index] = store
            return OpenStore(store: store, rest: {}, close: {})
        case .disk:
            let (folder, queue) = ("\(directory)/agent-\(index)", databaseQueues[index % databaseQueues.count])
            let store = try await withCheckedThrowingContinuation { continuation in
                creationQueue.async {
                    continuation.resume(with: Result { try Self.openStore(in: folder, account: account, on: queue) })
                }
            }
            return OpenStore(
                store: store, rest: { store.releaseMemory() },
                close: { [logger] in
                    do { try store.close() } catch {
                        logger.warning("Closing an agent's database failed", metadata: ["error": "\(error)"])
                    }
                })
        }
    }

    private static func openStore(
        in folder: String, account: PublicKey, on queue: DispatchQueue
    ) throws -> AccountStore {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let sealingKey = try SealingKey.loadOrCreate(file: "\(folder)/sealing.key")
        return try AccountStore.open(directory: folder, sealingKey: sealingKey, account: account, sharedQueue: queue)
    }

    nonisolated func openPool(
        _ key: KeyPair, on eventLoop: any EventLoop, observer: @escaping @Sendable (RelayUpdate) -> Void
    ) throws -> RelayPool {
        try RelayPool(
            signer: { challenge, relay in
                var generator = SystemRandomNumberGenerator()
                return NIP42.authenticationEvent(
                    challenge: challenge, relay: relay, by: key, now: SystemClock().now, using: &generator)
            }, addresses: .unrestricted, verified: verified, eventLoops: eventLoop, observer: observer,
            logger: logger)
    }
}
