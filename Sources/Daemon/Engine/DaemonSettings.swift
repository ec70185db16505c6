package import Errors
package import Nostr
package import PikaCore

/// Settings of a daemon.
package struct DaemonSettings: Sendable {
    /// Configuration that the core was started with; `set_relays` changes its relays.
    package var core: CoreConfiguration
    /// Public keys that may invite and message this account; empty admits everyone.
    package var allowed: Set<PublicKey>
    package var acceptsWelcomes: Bool
    /// Milliseconds to wait for a relay at the start before going on without one; nil to start at once.
    package var relayPatience: Int64?
    /// Whether socket clients need a token.
    package var requiresToken: Bool
    /// Returns the tokens that are currently valid.
    package var tokens: @Sendable () -> [DaemonToken]
    /// Directory for downloaded attachments; nil disables downloads.
    package var mediaDirectory: String?
    /// Milliseconds that a command waits for relays; less than the 30 s timeout of existing clients.
    package var commandPatience: Int64
    /// Milliseconds that `publish_keypackage` waits for the other relays once one has stored the key package.
    package var otherRelaysPatience: Int64
    /// Milliseconds that a command with files waits for servers and relays.
    package var mediaPatience: Int64
    /// Milliseconds that a message waits for its attachments before it is delivered without them.
    package var downloadPatience: Int64
    /// Events kept for replay.
    package var keptEvents: Int64
    /// Milliseconds that events are kept for replay.
    package var keptFor: Int64
    /// Scope of the daemon's durable values among those of the account, and prefix of its request ids.
    package var scope = "daemon"
    /// Whether sending commands wait for a relay; otherwise they wait until the message is durable and enqueued.
    package var waitsForRelays = true
    /// Number of core events whose cursors are remembered; must exceed those in flight at once. For a program, the
    /// newest one of each chat is remembered instead.
    package var rememberedEvents = 32
    /// The accounts of the state directory; nil for a daemon that does not manage accounts.
    package var accounts: (any DaemonAccounts)?
    /// Permissions and limits of the program that this daemon serves; nil for a daemon with clients.
    package var program: ProgramRules?

    package init(
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

    /// The name under which the outcomes of commands are reported.
    var name: String { self.program?.name ?? "daemon" }

    /// Returns the id of a command's action: the same for a repeated command with an idempotency key.
    func action(of context: CommandContext) -> ActionID {
        ActionID(rawValue: "\(self.name)/command-\(context.key ?? context.newID())")
    }

    func admits(_ peer: PublicKey) -> Bool { self.allowed.isEmpty || self.allowed.contains(peer) }
}

/// The reason why a daemon failed to start or ended.
package struct DaemonError: CodedError, Hashable {
    package typealias Code = ErrorCode<DaemonError>

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ErrorCode where Failure == DaemonError {
    /// The core ended unexpectedly.
    package static var coreEnded: Self { Self("core_ended") }
    /// The socket could not be created.
    package static var noSocket: Self { Self("no_socket") }
    /// The file with the tokens cannot be read or written.
    package static var badTokenFile: Self { Self("bad_token_file") }
}
