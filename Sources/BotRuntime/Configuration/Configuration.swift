public import BotKit
public import Nostr
public import PikaCore

/// A whole configuration file, read, checked and with every default filled in.
///
/// Secrets are not in it: keys are ``KeyReference`` values, and a file that holds one is refused.
public struct Configuration: Hashable, Sendable {
    /// The one version of the file format that exists.
    public static let currentVersion = 1

    public var relays: [RelayURL]
    /// Where accounts keep their state; absolute, or relative to the working directory as the file's own path was.
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
    public var invites = InvitePolicy.nobody
    /// When the account renews its keys in its groups by itself.
    public var selfUpdate = SelfUpdatePolicy.standard
    /// What the account keeps, and for how long.
    public var retention = RetentionPolicy.standard
    /// Whether the members' public profiles are read. Relays that are asked learn who shares groups with the account.
    public var profiles = false
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
    /// In which messages of a group the bot is interested, before its own filters.
    public enum GroupScope: String, Hashable, Sendable, CaseIterable {
        case all, mention, none
    }

    /// The registered name of the bot.
    public var use: String
    public var groups = GroupScope.all
    public var limits = LimitsConfiguration()
    /// What stands under `with:`, for the bot to read.
    public var settings = BotSettings.object([:])
}

/// How much a bot reacts to; a rate that is nil has no limit.
public struct LimitsConfiguration: Hashable, Sendable {
    public var perSender: RateLimit?
    public var perGroup: RateLimit?
    /// Messages that two bots may exchange in a row before the loop breaker stops them.
    public var botPair = 3
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

/// So many things in so long a time, written `6/min`.
public struct RateLimit: Hashable, Sendable, CustomStringConvertible {
    public enum Unit: String, Hashable, Sendable, CaseIterable {
        case second = "s"
        case minute = "min"
        case hour = "h"

        public var duration: Duration {
            switch self {
            case .second: .seconds(1)
            case .minute: .seconds(60)
            case .hour: .seconds(3600)
            }
        }
    }

    public var count: Int
    public var per: Unit

    public init(_ count: Int, per unit: Unit) {
        self.count = count
        per = unit
    }

    public var description: String { "\(count)/\(per.rawValue)" }
}
