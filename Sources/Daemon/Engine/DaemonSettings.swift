public import Nostr
public import PikaCore

/// How a daemon behaves.
public struct DaemonSettings: Sendable {
    /// What the core was started with; `set_relays` changes the relays in it.
    public var core: CoreConfiguration
    /// Who may invite this account and be heard; everybody if it is empty.
    public var allowed: Set<PublicKey>
    public var acceptsWelcomes: Bool
    /// Milliseconds that the start waits for a relay before it goes on without one; nil to start at once.
    public var relayPatience: Int64?
    /// Whether socket clients need a token.
    public var requiresToken: Bool
    /// The tokens that are good at this moment.
    public var tokens: @Sendable () -> [DaemonToken]
    /// Where files of messages are put; nil to download none.
    public var mediaDirectory: String?
    /// Milliseconds that a command waits for relays: below the 30 s of the clients that there are.
    public var commandPatience: Int64
    /// Milliseconds that `publish_keypackage` waits for the other relays once one has stored the key package.
    public var otherRelaysPatience: Int64
    /// Milliseconds that a command with files waits for servers and relays.
    public var mediaPatience: Int64
    /// Milliseconds that a message waits for its files before it is told without them.
    public var downloadPatience: Int64
    /// Events that are kept for clients that come again.
    public var keptEvents: Int64
    /// Milliseconds that they are kept.
    public var keptFor: Int64
    /// Where the daemon's durable values are, and what its requests begin with: its own among those of the account.
    public var scope = "daemon"
    /// Whether commands that send wait for a relay; otherwise until what they send is durable and on its way.
    public var waitsForRelays = true
    /// The events of the core whose numbers are remembered; more than may be under way at once. For a program, the
    /// newest of each chat is instead.
    public var rememberedEvents = 32
    /// What the program may do that this daemon is for; nil for a daemon with clients.
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

/// Why a daemon could not start or had to end.
public struct DaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The core ended by itself.
        public static let coreEnded = Code(description: "core_ended")
        /// The socket could not be made.
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
