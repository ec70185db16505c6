import ConsolePages
import Telemetry

/// The page or action that a request is about.
enum ConsoleRoute: Sendable, Hashable {
    case overview, why, logs, configuration, load
    case account(String)
    case chat(account: String, id: String)
    /// The validation of an edited configuration text.
    case validation
    /// By the action's name.
    case action(String)
    /// The live updates of a page.
    case events
    case login, keyLogin, logout
    case asset(Asset)

    /// The parts of a path, percent-decoded; nil for an unknown path.
    init?(_ names: [String]) {
        guard let first = names.first else { return nil }
        switch (first, names.count) {
        case ("", 1): self = .overview
        case ("why", 1): self = .why
        case ("logs", 1): self = .logs
        case ("configuration", 1): self = .configuration
        case ("configuration", 2) where names[1] == "validate": self = .validation
        case ("load", 1): self = .load
        case ("accounts", 2): self = .account(names[1])
        case ("accounts", 4) where names[2] == "chats": self = .chat(account: names[1], id: names[3])
        case ("actions", 2): self = .action(names[1])
        case ("events", 1): self = .events
        case ("login", 1): self = .login
        case ("login", 2) where names[1] == "nostr": self = .keyLogin
        case ("logout", 1): self = .logout
        case (_, 1):
            guard let asset = Asset.all.first(where: { $0.name == first }) else { return nil }
            self = .asset(asset)
        default: return nil
        }
    }

    /// The allowed methods, for the header `Allow`.
    var methods: [String] {
        switch self {
        case .validation, .keyLogin, .logout: ["POST"]
        case .login, .action: ["GET", "HEAD", "POST"]
        case .events: ["GET"]
        case .overview, .why, .logs, .configuration, .load, .account, .chat, .asset: ["GET", "HEAD"]
        }
    }
}

/// A parsed request target (RFC 9112 §3.2.1).
struct ConsoleTarget: Sendable, Hashable {
    enum Problem: Error, Hashable {
        case malformed, tooLong, unknown
    }

    /// Bytes; the longest link of the console itself is far below.
    static let maximumBytes = 4_096

    let route: ConsoleRoute
    let query: FormFields

    init(_ text: String) throws(Problem) {
        guard text.utf8.count <= Self.maximumBytes else { throw .tooLong }
        guard text.utf8.first == UInt8(ascii: "/") else { throw .malformed }
        let sides = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let query = FormFields(sides.count > 1 ? String(sides[1]) : "") else { throw .malformed }
        var names: [String] = []
        for part in sides[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            // Decoded one by one, because a name may contain an encoded slash.
            guard let name = HTTPRequest(target: "/" + part)?.path.dropFirst() else { throw .malformed }
            names.append(String(name))
        }
        guard let route = ConsoleRoute(names) else { throw .unknown }
        self.route = route
        self.query = query
    }
}
