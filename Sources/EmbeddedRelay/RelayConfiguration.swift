public import Nostr

/// Where the relay listens, where it keeps events, and what it says of itself.
public struct RelayConfiguration: Sendable {
    public enum Storage: Hashable, Sendable {
        /// Gone when the relay stops.
        case memory
        /// One SQLite file, made with its folders when missing, beside which SQLite keeps `-wal` and `-shm`.
        case file(String)
    }

    public var host = "127.0.0.1"
    /// 0 takes any free port; `Relay.waitUntilListening()` tells which.
    public var port = 0
    public var storage = Storage.memory
    /// Folder of the media store (Blossom) on the same port, made when missing; nil keeps files in a temporary folder
    /// that goes when the relay stops.
    public var mediaDirectory: String?
    public var name = "pikabot relay"
    /// Who runs it (NIP-11).
    public var operatorKey: PublicKey?
    public var summary = "Nostr relay of the pikabot framework"
    /// Address that NIP-42 events must name; nil accepts the address the client connected to.
    public var publicURL: RelayURL?
    /// Scheme and authority, as in `https://media.example`, under which the media store's files are reached; nil takes
    /// ``publicURL``, or else the address that a request came to.
    public var serviceURL: String?
    /// Log what clients ask and send, a line each.
    public var logsEvents = false
    /// Every EVENT, REQ and COUNT needs a NIP-42 login first.
    public var requireAuthentication = false
    /// Sync the file to disk at every commit, so that an `OK` also survives a loss of power.
    public var synchronousCommits = false
    /// How often expired events (NIP-40) are removed from the file; queries hide them at once.
    public var purgeInterval: Duration = .seconds(60)
    /// How long a stop waits for clients to finish the closing handshake.
    public var shutdownGrace: Duration = .seconds(2)
    /// Event loop threads.
    public var threads = 2
    public var limits = RelayLimits()

    public init() {}

    /// Throws ``RelayError/Code/invalidConfiguration`` for what no socket or frame can be.
    func validate() throws(RelayError) {
        guard (0...65_535).contains(port) else {
            throw RelayError(.invalidConfiguration, "the port is not a number from 0 to 65535")
        }
        guard (1...Int(UInt32.max)).contains(limits.messageBytes) else {
            throw RelayError(.invalidConfiguration, "a message has 1 to \(UInt32.max) bytes")
        }
        for rate in [limits.messagesPerSecond, limits.messagesPerSecondPerAddress, limits.connectionsPerAddress] {
            guard rate.map({ $0 > 0 }) ?? true else {
                throw RelayError(.invalidConfiguration, "a rate or a connection limit must be at least 1")
            }
        }
        guard limits.databaseBytes > 0, limits.mediaBytes > 0 else {
            throw RelayError(.invalidConfiguration, "a disk quota must be at least 1 byte")
        }
        guard limits.blobBytes > 0 else {
            throw RelayError(.invalidConfiguration, "a file of the media store has at least 1 byte")
        }
    }
}
