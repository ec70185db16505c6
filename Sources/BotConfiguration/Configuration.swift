package import BotDispatch
package import BotKit
package import Nostr
package import PikaCore
package import ProcessSupport

/// A complete configuration file, parsed, validated and with all defaults filled in.
///
/// It contains no secrets: keys are ``KeyReference`` values, and a file that contains a key is rejected.
package struct Configuration: Hashable, Sendable {
    /// The only version of the file format so far.
    package static let currentVersion = 1

    /// The file's folder, the base of its relative paths; absolute for a file that was loaded.
    package var folder: String
    package var relays: [RelayURL]
    /// Whether relays and media servers named by others may have private addresses (`relays: { private: allow }`).
    package var allowsPrivateAddresses = false
    /// The directory of the accounts' state.
    package var stateDirectory: String
    package var accounts: [AccountConfiguration]
    package var media = MediaConfiguration()
    package var databases = DatabaseConfiguration()
    package var calls = CallConfiguration()
    package var supervisor = SupervisionConfiguration()
    package var observe = ObservationConfiguration()
}

/// The media servers for files in messages, and the cache of received files.
package struct MediaConfiguration: Hashable, Sendable {
    /// Blossom servers, in order of preference. Without any, accounts can receive files but not send them.
    package var servers: [MediaURL] = []
    /// The bytes of each account's cache of downloaded files; nil for no cache.
    package var cacheBytes: Int? = MediaCacheLimits.standard.bytes
}

/// The limits of the bots' database files, and the age of their copies.
package struct DatabaseConfiguration: Hashable, Sendable {
    /// The bytes of each file; nil if bots may have none.
    package var bytes: Int? = 256 << 20
    /// The time of each transaction or query.
    package var timeout: Duration = .seconds(5)
    /// The age at which a file's copy is renewed; nil for no copies.
    package var backup: Duration? = .seconds(86_400)
}

/// The media of the accounts' calls.
package struct CallConfiguration: Hashable, Sendable {
    /// The call relay of the calls that accounts make; nil if they can only answer.
    package var relay: RelayURL?
    /// The time after which a connected call ends.
    package var longest: Duration = .seconds(3600)
}

/// One account: a Nostr key, its invite policy, and the bots that run as the account.
package struct AccountConfiguration: Hashable, Sendable {
    /// 1 to 32 of a-z, 0-9 and "-"; unique in the file.
    package var name: String
    package var key: KeyReference
    /// The users that may invite the account into a group.
    package var invites = InvitePolicy.nobody
    /// The rate of invitations per inviter that are processed; further ones are refused.
    package var inviteLimit: Rate? = Rate(30, per: .hour)
    /// The public keys of the users that may operate the bots from inside a chat.
    package var operators: Set<PublicKey> = []
    package var restart = RestartKind.permanent
    /// The schedule on which the account renews its keys in its groups.
    package var selfUpdate = SelfUpdatePolicy.standard
    /// The data that the account keeps, and for how long.
    package var retention = RetentionPolicy.standard
    /// Whether to read the members' public profiles. The relays queried learn which people share groups with the
    /// account.
    package var profiles = true
    /// The reaction to a member who repeatedly rolls back the commits of a group.
    package var onRollbackStorm = RollbackStormPolicy.report
    /// The generation of Marmot for the groups that the account creates.
    package var groupProtocol = GroupProtocol.auto
    /// The address of the webhook listener; used only if there are webhook feeds.
    package var webhooks = Self.standardWebhooks
    /// The sources of events from outside the chats.
    package var feeds: [FeedConfiguration] = []
    package var bots: [BotConfiguration] = []

    package static let standardWebhooks = ListenAddress(host: "127.0.0.1", port: 8790)
}

/// The users that may invite an account into a group.
package enum InvitePolicy: Hashable, Sendable {
    case anyone
    case nobody
    case allowlist(Set<PublicKey>)
}

/// One bot of an account.
package struct BotConfiguration: Hashable, Sendable {
    /// The code of a bot: built into this program, or an external program.
    package enum Source: Hashable, Sendable {
        /// The registered name of the bot, and its settings under `with:`.
        case included(String, BotSettings)
        case external(ExternalBotConfiguration)
    }

    /// Unique among the bots of the account: the prefix of effect ids and the scope of values.
    package var name: String
    package var source: Source
    package var policy = BotPolicy()

    package init(name: String, source: Source, policy: BotPolicy = BotPolicy()) {
        self.name = name
        self.source = source
        self.policy = policy
    }
}

/// An external program that runs as a bot: it speaks the daemon's line protocol on its standard streams.
package struct ExternalBotConfiguration: Hashable, Sendable {
    /// The value of an environment variable.
    package enum Variable: Hashable, Sendable {
        case text(String)
        case secret(KeyReference)
    }

    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    package var command: [String]
    /// Its working directory; a relative program path with a slash starts there.
    package var directory: String
    /// Its whole environment, except `PATH`, `HOME` and `LANG`.
    package var environment: [String: Variable] = [:]
    /// The daemon commands that it may use.
    package var commands = ProgramCommands.standard
    /// The chats that its commands may access; nil for all chats in which it is active.
    package var groups: Set<ChatID>?
    package var restart = RestartKind.permanent

    package init(command: [String], directory: String = ".") {
        self.command = command
        self.directory = directory
    }
}

/// The restart and shutdown policy of workers, in OTP's terms.
package struct SupervisionConfiguration: Hashable, Sendable {
    package enum Strategy: String, Hashable, Sendable, CaseIterable {
        case oneForOne = "one_for_one"
        case oneForAll = "one_for_all"
        case restForOne = "rest_for_one"
    }

    package var strategy = Strategy.oneForOne
    /// The number of restarts tolerated within `period`.
    package var intensity = 5
    package var period = Duration.seconds(60)
    package var backoff = Duration.seconds(1)...Duration.seconds(30)
    /// The time that a worker has to exit after SIGTERM.
    package var drain = Duration.seconds(10)
    /// The time that a worker may take to answer a health check before it is killed.
    package var patience = Duration.seconds(60)
    /// The control socket; nil for `control.sock` in the state directory.
    package var control: String?
}

/// The logs, metrics and health endpoint of the process.
package struct ObservationConfiguration: Hashable, Sendable {
    package enum LogFormat: String, Hashable, Sendable, CaseIterable {
        case text, json
    }

    /// The log levels of swift-log.
    package enum LogLevel: String, Hashable, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The address that serves health and metrics; nil for none.
    package var listen: ListenAddress?
    /// The host names under which the endpoint is reachable, besides addresses and `localhost`.
    package var hosts: [String] = []
    /// The interval at which a canary event is sent through each relay; nil for never.
    package var canary: Duration? = .seconds(60)
    /// The deadline for its return.
    package var canaryBudget = Duration.seconds(10)
    package var logs = LogFormat.text
    package var level = LogLevel.info
    /// The operator's console; nil for none.
    package var console: ConsoleConfiguration?
}

/// `HOST:PORT`; an IPv6 host is written in brackets and stored without them. Port 0 selects any free port.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
