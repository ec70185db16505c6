import BotKit

/// Relays that may be probed for those who ask: `wss://relay.example`, or `wss://*.example` for every host below it.
struct TargetPattern: Hashable, Sendable {
    private let isSecure: Bool
    /// Of `*.example`: `.example`.
    private let suffix: String?
    private let host: String
    private let port: Int
    private let path: String

    /// Nil for anything else, also for a star that leaves less than two names of a host open: everybody could then have
    /// this machine connect to everything.
    init?(_ text: String) {
        let hasStar = text.contains("://*.")
        // The star is no part of an address; a name in its place is.
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
