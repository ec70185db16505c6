import Logging
import NIOCore
import Nostr

/// What all connections of a running relay share.
struct RelayCore: Sendable {
    let configuration: RelayConfiguration
    let hub: RelayHub
    let store: EventStore
    let writer: GroupCommit
    let blobs: BlobStore
    let logger: Logger
    /// Nil unless everything is to be logged.
    let eventLog: EventLog?
    /// Unix seconds.
    let now: @Sendable () -> Int64

    init(
        _ configuration: RelayConfiguration, logger: Logger, now: @escaping @Sendable () -> Int64
    ) throws(RelayError) {
        let hub = RelayHub()
        blobs = try BlobStore(directory: configuration.mediaDirectory, mostBytes: configuration.limits.blobBytes)
        store = try EventStore(configuration.storage, synchronousCommits: configuration.synchronousCommits)
        let eventLog = configuration.logsEvents ? EventLog(logger) : nil
        writer = GroupCommit(store, logger: logger) { batch in
            eventLog?.committed(batch)
            hub.committed(batch)
        }
        self.eventLog = eventLog
        self.hub = hub
        self.configuration = configuration
        self.logger = logger
        self.now = now
    }

    var limits: RelayLimits { configuration.limits }
    var closeTimeout: Duration { configuration.shutdownGrace }

    /// - Parameters:
    ///   - host: the Host header of the upgrade request.
    ///   - randomness: where the NIP-42 challenge comes from.
    func session(host: String?, using randomness: inout some RandomNumberGenerator) -> ClientSession {
        let challenge = Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255, using: &randomness) })
        let address = configuration.publicURL ?? host.flatMap { try? RelayURL("ws://\($0)") }
        let acceptance = Acceptance(
            limits: limits, requireAuthentication: configuration.requireAuthentication)
        return ClientSession(challenge: challenge, address: address, acceptance: acceptance, now: now())
    }
}
