public import Nostr
public import PikaCore

/// Settings of a daemon.
public struct DaemonSettings: Sendable {
    /// Configuration that the core was started with; `set_relays` changes its relays.
    public var core: CoreConfiguration
    /// Public keys that may invite and message this account; empty admits everybody.
    public var allowed: Set<PublicKey>
    public var acceptsWelcomes: Bool
    /// Milliseconds to wait for a relay at the start before going on without one; nil to start at once.
    public var relayPatience: Int64?
    /// Whether socket clients need a token.
    public var requiresToken: Bool
    /// Returns the tokens that are currently valid.
    public var tokens: @Sendable () -> [DaemonToken]
    /// Directory for downloaded attachments; nil disables downloads.
    public var mediaDirectory: String?
    /// Milliseconds that a command waits for relays; less than the 30 s timeout of existing clients.
    public var commandPatience: Int64
    /// Milliseconds that `publish_keypackage` waits for the other relays once one has stored the key package.
    public var otherRelaysPatience: Int64
    /// Milliseconds that a command with files waits for servers and relays.
    public var mediaPatience: Int64
    /// Milliseconds that a message waits for its attachments before it is delivered without them.
    public var downloadPatience: Int64
    /// Events kept for replay.
    public var keptEvents: Int64
    /// Milliseconds that they are kept.
    public var keptFor: Int64
    /// Scope of the daemon's durable values among those of the account, and prefix of its request ids.
    public var scope = "daemon"
    /// Whether sending commands wait for a relay; otherwise they wait until the message is durable and enqueued.
    public var waitsForRelays = true
    /// Number of core events whose cursors are remembered; must exceed those in flight at once. For a program, the
    /// newest one of each chat is remembered instead.
    public var rememberedEvents = 32
    /// Permissions and limits of the program that this daemon serves; nil for a daemon with clients.
    public var program: ProgramRules?

    public init(
        core: CoreConfiguration, allowed: Set<PublicKey> = [], acceptsWelcomes: Bool = false,
        relayPatience: Int64? = 90_000, requiresToken: Bool = false,
        tokens: @escaping @Sendable () -> [DaemonToken] = { [] }, mediaDirectory: String? = nil,
        commandPatience: Int64 = 25_000, otherRelaysPatience: Int64 = 3000, mediaPatience: Int64 = 120_000,
        downloadPatience: Int64 = 20_000, keptEvents: Int64 = 1000, keptFor: Int64 = 7 * 86_400_000
    ) {
        self.core = core
        self.allowed = allowed
        self.acceptsWelcomes = acceptsWelcomes
        self.relayPatience = relayPatience
        self.requiresToken = requiresToken
        self.tokens = tokens
        self.mediaDirectory = mediaDirectory
        self.commandPatience = commandPatience
        self.otherRelaysPatience = otherRelaysPatience
        self.mediaPatience = mediaPatience
        self.downloadPatience = downloadPatience
        self.keptEvents = max(1, keptEvents)
        self.keptFor = keptFor
    }

    func admits(_ peer: PublicKey) -> Bool { self.allowed.isEmpty || self.allowed.contains(peer) }
}

/// Why a daemon failed to start or ended.
public struct DaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The core ended unexpectedly.
        public static let coreEnded = Code(description: "core_ended")
        /// The socket could not be created.
        public static let noSocket = Code(description: "no_socket")
        /// The file with the tokens cannot be read or written.
        public static let badTokenFile = Code(description: "bad_token_file")
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(self.code): \(self.message)" }
}
