import Errors
import Logging
import NIOCore
import Nostr

/// State shared by all connections of a running relay.
struct RelayCore: Sendable {
    let configuration: RelayConfiguration
    let hub: RelayHub
    let calls: CallHub
    let store: EventStore
    let writer: GroupCommit
    let blobs: BlobStore
    let logger: Logger
    /// The log of messages; nil unless messages are logged.
    let trafficLog: TrafficLog?
    /// Returns the time.
    let now: @Sendable () -> UnixTime

    init(
        _ configuration: RelayConfiguration, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) throws(RelayError) {
        let hub = RelayHub(limits: configuration.limits)
        let limits = configuration.limits
        blobs = try BlobStore(
            directory: configuration.mediaDirectory, maximumBytes: limits.blobBytes, quota: limits.mediaBytes)
        store = try EventStore(configuration.storage, synchronousCommits: configuration.synchronousCommits)
        let trafficLog = configuration.logsEvents ? TrafficLog(logger) : nil
        writer = GroupCommit(store, quota: limits.databaseBytes, logger: logger) { batch in
            trafficLog?.committed(batch)
            hub.committed(batch)
        }
        self.trafficLog = trafficLog
        self.hub = hub
        calls = CallHub(limits: limits.calls)
        self.configuration = configuration
        self.logger = logger
        self.now = now
    }

    var limits: RelayLimits { configuration.limits }
    func isLimited(_ client: ClientAddress) -> Bool { limits.limitsLoopback || !client.isLoopback }

    /// Consumes one message of the client address's rate; returns false when it is exceeded.
    func consumeMessage(of client: ClientAddress) -> Bool {
        // Takes no lock for loopback clients, which may send many thousands of messages per second.
        !isLimited(client) || hub.consumeMessage(of: client, now: now())
    }

    var closeTimeout: Duration { configuration.shutdownGrace }

    /// - Parameters:
    ///   - host: the Host header of the upgrade request.
    ///   - client: loopback addresses have no rate limit unless the configuration sets one.
    ///   - randomness: source of the NIP-42 challenge.
    func session(
        host: String?, client: ClientAddress, using randomness: inout some RandomNumberGenerator
    ) -> ClientSession {
        var limits = limits
        if !isLimited(client) { limits.messagesPerSecond = nil }
        let challenge = Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255, using: &randomness) })
        let address = configuration.publicURL ?? host.flatMap { try? RelayURL("ws://\($0)") }
        let acceptance = Acceptance(
            limits: limits, requireAuthentication: configuration.requireAuthentication)
        return ClientSession(challenge: challenge, address: address, acceptance: acceptance, now: now())
    }
}
