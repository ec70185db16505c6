public import BotDispatch
public import BotKit
import ExternalBots
public import Nostr
public import PikaCore
public import Restarts

/// A whole configuration file, read, checked and with every default filled in.
///
/// Secrets are not in it: keys are ``KeyReference`` values, and a file that holds one is refused.
public struct Configuration: Hashable, Sendable {
    /// The one version of the file format that exists.
    public static let currentVersion = 1

    /// The file's own, in which relative paths of the file begin; absolute for a file that was loaded.
    public var folder: String
    public var relays: [RelayURL]
    /// Whether relays and media servers that others name may be at private addresses (`relays: { private: allow }`).
    public var allowsPrivateAddresses = false
    /// Where accounts keep their state.
    public var stateDirectory: String
    public var accounts: [AccountConfiguration]
    public var media = MediaConfiguration()
    public var supervisor = SupervisionConfiguration()
    public var observe = ObservationConfiguration()
}

/// Where the files of messages are kept.
public struct MediaConfiguration: Hashable, Sendable {
    /// Blossom servers, in order of preference; none: accounts receive files and cannot send any.
    public var servers: [MediaURL] = []
}

/// One account: a Nostr key, who may invite it, and the bots that answer through it.
public struct AccountConfiguration: Hashable, Sendable {
    /// 1 to 32 of a-z, 0-9 and "-"; unique in the file.
    public var name: String
    public var key: KeyReference
    /// Who may bring the account into a group.
    public var invites = InvitePolicy.nobody
    /// Invitations of one inviter that are looked at; more are refused.
    public var inviteLimit: Rate? = Rate(30, per: .hour)
    /// Who may operate the bots from inside a chat.
    public var operators: Set<PublicKey> = []
    public var restart = RestartKind.permanent
    /// When the account renews its keys in its groups by itself.
    public var selfUpdate = SelfUpdatePolicy.standard
    /// What the account keeps, and for how long.
    public var retention = RetentionPolicy.standard
    /// Whether the members' public profiles are read. Relays that are asked learn who shares groups with the account.
    public var profiles = false
    /// The reaction to a member that keeps undoing the commits of a group.
    public var onRollbackStorm = RollbackStormPolicy.report
    public var bots: [BotConfiguration] = []
}

/// Who may bring an account into a group.
public enum InvitePolicy: Hashable, Sendable {
    case anyone
    case nobody
    case allowlist(Set<PublicKey>)
}

/// One bot of an account.
public struct BotConfiguration: Hashable, Sendable {
    /// What is run: a bot of this program, or a program of its own.
    public enum Source: Hashable, Sendable {
        /// The registered name of the bot, and what stands under `with:`, for it to read.
        case included(String, BotSettings)
        case external(ExternalBotConfiguration)
    }

    /// Unique among the bots of the account: begins the ids of what it sends, and is the scope of its values.
    public var name: String
    public var source: Source
    public var policy = BotPolicy()

    public init(name: String, source: Source, policy: BotPolicy = BotPolicy()) {
        self.name = name
        self.source = source
        self.policy = policy
    }
}

/// A program that is a bot: it speaks the daemon's lines on its standard streams.
public struct ExternalBotConfiguration: Hashable, Sendable {
    /// A variable of its environment.
    public enum Variable: Hashable, Sendable {
        case text(String)
        case secret(KeyReference)
    }

    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    public var command: [String]
    /// Its working directory; a program with a slash is found from there.
    public var directory: String
    /// Its whole environment, besides `PATH`, `HOME` and `LANG`.
    public var environment: [String: Variable] = [:]
    /// The daemon commands that it may use.
    public var commands = ExternalBotProgram.standardCommands
    /// The chats that its commands may touch; nil for all of those in which it is at work.
    public var groups: Set<String>?
    public var restart = RestartKind.permanent

    public init(command: [String], directory: String = ".") {
        self.command = command
        self.directory = directory
    }
}

/// How workers are restarted and stopped; the words are OTP's.
public struct SupervisionConfiguration: Hashable, Sendable {
    public enum Strategy: String, Hashable, Sendable, CaseIterable {
        case oneForOne = "one_for_one"
        case oneForAll = "one_for_all"
        case restForOne = "rest_for_one"
    }

    public var strategy = Strategy.oneForOne
    /// Restarts tolerated inside `period`.
    public var intensity = 5
    public var period = Duration.seconds(60)
    public var backoff = Duration.seconds(1)...Duration.seconds(30)
    /// How long a worker may take to end after SIGTERM.
    public var drain = Duration.seconds(10)
    /// How long a worker may be silent when it is asked for its health, before it is killed.
    public var patience = Duration.seconds(60)
    /// The control socket; nil for `control.sock` in the state directory.
    public var control: String?
}

/// What the process shows of itself.
public struct ObservationConfiguration: Hashable, Sendable {
    public enum LogFormat: String, Hashable, Sendable, CaseIterable {
        case text, json
    }

    /// The levels of swift-log, by its names.
    public enum LogLevel: String, Hashable, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// Where health and metrics are served; nil: nowhere.
    public var listen: ListenAddress?
    /// Names under which that is reached, besides addresses and `localhost`.
    public var hosts: [String] = []
    /// How often an event is sent through each relay to see whether it comes back; nil: never.
    public var canary: Duration? = .seconds(60)
    /// How long it may take to come back.
    public var canaryBudget = Duration.seconds(10)
    public var logs = LogFormat.text
    public var level = LogLevel.info
}

/// `HOST:PORT`; an IPv6 host is written in brackets and kept without them. Port 0 takes any free port.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    public var host: String
    public var port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
