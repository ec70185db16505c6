import BotKit

/// A pattern of relays that may be probed on request: `wss://relay.example`, or `wss://*.example` for all hosts below
/// it.
struct TargetPattern: Hashable, Sendable {
    private let isSecure: Bool
    /// The part after the star, such as `.example` for `*.example`; nil without a star.
    private let suffix: String?
    private let host: String
    private let port: Int
    private let path: String

    /// Parses a pattern; nil if it is invalid. A star must be followed by a domain name: a pattern that allows any host
    /// would let anyone make this machine connect anywhere.
    init?(_ text: String) {
        let hasStar = text.contains("://*.")
        // A star is not valid in a URL, so a label replaces it for parsing.
        guard let relay = try? RelayURL(hasStar ? text.replacing("://*.", with: "://any.", maxReplacements: 1) : text)
        else { return nil }
        (isSecure, host, port, path) = (relay.isSecure, relay.host, relay.port, relay.path)
        suffix = hasStar ? String(relay.host.dropFirst("any".count)) : nil
        if let suffix, suffix.split(separator: ".").isEmpty || suffix.hasSuffix(".") { return nil }
        if let suffix, suffix.dropFirst().allSatisfy({ $0.isNumber || $0 == "." }) { return nil }
    }

    func matches(_ relay: RelayURL) -> Bool {
        guard relay.isSecure == isSecure, relay.port == port, relay.path == path else { return false }
        guard let suffix else { return relay.host == host }
        return relay.host.hasSuffix(suffix) && relay.host.count > suffix.count
    }
}
