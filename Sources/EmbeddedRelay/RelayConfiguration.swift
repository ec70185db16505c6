import Errors
package import Nostr

/// Network, storage and NIP-11 settings of the relay.
package struct RelayConfiguration: Sendable {
    package enum Storage: Hashable, Sendable {
        /// In memory; lost when the relay stops.
        case memory
        /// One SQLite file, created with its folders when missing; SQLite keeps `-wal` and `-shm` files beside it.
        case file(String)
    }

    package var host = "127.0.0.1"
    /// 0 binds any free port; `Relay.waitUntilListening()` returns it.
    package var port = 0
    package var storage = Storage.memory
    /// Folder of the media store (Blossom) on the same port, created at the first upload if missing; nil keeps files in
    /// a temporary folder that is removed when the relay stops.
    package var mediaDirectory: String?
    package var name = "pikabot relay"
    /// The operator's public key (NIP-11).
    package var operatorKey: PublicKey?
    package var summary = "Nostr relay of the pikabot framework"
    /// Address that NIP-42 events must name; nil accepts the address the client connected to.
    package var publicURL: RelayURL?
    /// Scheme and authority of the media store's URLs, as in `https://media.example`; nil uses ``publicURL``, or else
    /// the address of each request.
    package var serviceURL: String?
    /// Whether to log each client message and reply, one line each.
    package var logsEvents = false
    /// Whether to forward the media of calls at the path `/calls` (docs/calls.md); anyone who connects may use it.
    package var servesCalls = false
    /// Whether every EVENT, REQ and COUNT requires a NIP-42 login.
    package var requireAuthentication = false
    /// Whether to sync the file to disk at every commit, so that an event with an `OK` also survives a loss of power.
    package var synchronousCommits = false
    /// Interval at which expired events (NIP-40) are removed from the file; queries hide them at once.
    package var purgeInterval: Duration = .seconds(60)
    /// Time that a shutdown waits for clients to finish the closing handshake.
    package var shutdownGrace: Duration = .seconds(2)
    /// Number of event loop threads.
    package var threads = 2
    package var limits = RelayLimits()

    package init() {}

    /// Throws `RelayError.Code.invalidConfiguration` for values that no socket or frame can have.
    func validate() throws(RelayError) {
        guard (0...65_535).contains(port) else {
            throw RelayError(.invalidConfiguration, "the port must be a number from 0 to 65535")
        }
        guard (1...Int(UInt32.max)).contains(limits.messageBytes) else {
            throw RelayError(.invalidConfiguration, "the maximum message size must be 1 to \(UInt32.max) bytes")
        }
        for rate in [limits.messagesPerSecond, limits.messagesPerSecondPerAddress, limits.connectionsPerAddress] {
            guard rate.map({ $0 > 0 }) ?? true else {
                throw RelayError(.invalidConfiguration, "a rate or a connection limit must be at least 1")
            }
        }
        let calls = limits.calls
        let callLimits = [
            calls.channelsPerConnection, calls.subscribersPerTrack, calls.tracks, calls.groupsPerSecond,
            calls.bytesPerSecond, calls.queuedGroups, calls.queuedBytes,
        ]
        guard callLimits.allSatisfy({ $0 > 0 }), calls.pingInterval > .zero, calls.idleTimeout > .zero else {
            throw RelayError(.invalidConfiguration, "every limit of calls must be positive")
        }
        guard limits.databaseBytes > 0, limits.mediaBytes > 0 else {
            throw RelayError(.invalidConfiguration, "a disk quota must be at least 1 byte")
        }
        guard limits.blobBytes > 0 else {
            throw RelayError(.invalidConfiguration, "the maximum file size must be at least 1 byte")
        }
    }
}
