public import BotDispatch
public import BotKit
import ExternalBots
public import Nostr
public import PikaCore
public import Restarts

/// A complete configuration file, parsed, validated and with all defaults filled in.
///
/// It contains no secrets: keys are ``KeyReference`` values, and a file that contains a key is rejected.
public struct Configuration: Hashable, Sendable {
    /// The only version of the file format so far.
    public static let currentVersion = 1

    /// The file's folder, the base of its relative paths; absolute for a file that was loaded.
    public var folder: String
    public var relays: [RelayURL]
    /// Whether relays and media servers named by others may have private addresses (`relays: { private: allow }`).
    public var allowsPrivateAddresses = false
    /// The directory of the accounts' state.
    public var stateDirectory: String
    public var accounts: [AccountConfiguration]
    public var media = MediaConfiguration()
    public var supervisor = SupervisionConfiguration()
    public var observe = ObservationConfiguration()
}

/// The media servers for files in messages.
public struct MediaConfiguration: Hashable, Sendable {
    /// Blossom servers, in order of preference. Without any, accounts can receive files but not send them.
    public var servers: [MediaURL] = []
}

/// One account: a Nostr key, its invite policy, and the bots that run as the account.
public struct AccountConfiguration: Hashable, Sendable {
    /// 1 to 32 of a-z, 0-9 and "-"; unique in the file.
    public var name: String
    public var key: KeyReference
    /// The users that may invite the account into a group.
    public var invites = InvitePolicy.nobody
    /// The rate of invitations per inviter that are processed; further ones are refused.
    public var inviteLimit: Rate? = Rate(30, per: .hour)
    /// The public keys of the users that may operate the bots from inside a chat.
    public var operators: Set<PublicKey> = []
    public var restart = RestartKind.permanent
    /// The schedule on which the account renews its keys in its groups.
    public var selfUpdate = SelfUpdatePolicy.standard
    /// The data that the account keeps, and for how long.
    public var retention = RetentionPolicy.standard
    /// Whether to read the members' public profiles. The relays queried learn which people share groups with the
    /// account.
    public var profiles = false
    /// The reaction to a member who repeatedly rolls back the commits of a group.
    public var onRollbackStorm = RollbackStormPolicy.report
    public var bots: [BotConfiguration] = []
}

/// The users that may invite an account into a group.
public enum InvitePolicy: Hashable, Sendable {
    case anyone
    case nobody
    case allowlist(Set<PublicKey>)
}

/// One bot of an account.
public struct BotConfiguration: Hashable, Sendable {
    /// The code of a bot: built into this program, or an external program.
    public enum Source: Hashable, Sendable {
        /// The registered name of the bot, and its settings under `with:`.
        case included(String, BotSettings)
        case external(ExternalBotConfiguration)
    }

    /// Unique among the bots of the account: the prefix of effect ids and the scope of values.
    public var name: String
    public var source: Source
    public var policy = BotPolicy()

    public init(name: String, source: Source, policy: BotPolicy = BotPolicy()) {
        self.name = name
        self.source = source
        self.policy = policy
    }
}

/// An external program that runs as a bot: it speaks the daemon's line protocol on its standard streams.
public struct ExternalBotConfiguration: Hashable, Sendable {
    /// The value of an environment variable.
    public enum Variable: Hashable, Sendable {
        case text(String)
        case secret(KeyReference)
    }

    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    public var command: [String]
    /// Its working directory; a relative program path with a slash starts there.
    public var directory: String
    /// Its whole environment, except `PATH`, `HOME` and `LANG`.
    public var environment: [String: Variable] = [:]
    /// The daemon commands that it may use.
    public var commands = ExternalBotProgram.standardCommands
    /// The chats that its commands may access; nil for all chats in which it is active.
    public var groups: Set<String>?
    public var restart = RestartKind.permanent

    public init(command: [String], directory: String = ".") {
        self.command = command
        self.directory = directory
    }
}

/// The restart and shutdown policy of workers, in OTP's terms.
public struct SupervisionConfiguration: Hashable, Sendable {
    public enum Strategy: String, Hashable, Sendable, CaseIterable {
        case oneForOne = "one_for_one"
        case oneForAll = "one_for_all"
        case restForOne = "rest_for_one"
    }

    public var strategy = Strategy.oneForOne
    /// The number of restarts tolerated within `period`.
    public var intensity = 5
    public var period = Duration.seconds(60)
    public var backoff = Duration.seconds(1)...Duration.seconds(30)
    /// The time that a worker has to exit after SIGTERM.
    public var drain = Duration.seconds(10)
    /// The time that a worker may take to answer a health check before it is killed.
    public var patience = Duration.seconds(60)
    /// The control socket; nil for `control.sock` in the state directory.
    public var control: String?
}

/// The logs, metrics and health endpoint of the process.
public struct ObservationConfiguration: Hashable, Sendable {
    public enum LogFormat: String, Hashable, Sendable, CaseIterable {
        case text, json
    }

    /// The log levels of swift-log.
    public enum LogLevel: String, Hashable, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The address that serves health and metrics; nil for none.
    public var listen: ListenAddress?
    /// The host names under which the endpoint is reachable, besides addresses and `localhost`.
    public var hosts: [String] = []
    /// The interval at which a canary event is sent through each relay; nil for never.
    public var canary: Duration? = .seconds(60)
    /// The deadline for its return.
    public var canaryBudget = Duration.seconds(10)
    public var logs = LogFormat.text
    public var level = LogLevel.info
}

/// `HOST:PORT`; an IPv6 host is written in brackets and stored without them. Port 0 selects any free port.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    public var host: String
    public var port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
