/// NIP-66: events in which relay monitors publish their findings.
public enum RelayMonitoring {
    /// Findings about one relay.
    public struct Discovery: Hashable, Sendable {
        /// The relay that was checked.
        public var relay: RelayURL
        /// Milliseconds to open a connection; nil if that failed.
        public var openTime: Int64?
        /// Milliseconds to receive an answer; nil if that failed.
        public var readTime: Int64?
        /// Milliseconds to get an event accepted; nil if that failed.
        public var writeTime: Int64?
        /// The numbers of the NIPs that the relay claims to support.
        public var supportedNIPs: [Int]
        /// Whether the relay requests authentication (NIP-42).
        public var wantsLogin: Bool
        /// The relay's NIP-11 document as received; nil if absent.
        public var information: String?

        /// Creates the findings about a relay.
        public init(
            relay: RelayURL, openTime: Int64? = nil, readTime: Int64? = nil, writeTime: Int64? = nil,
            supportedNIPs: [Int] = [], wantsLogin: Bool = false, information: String? = nil
        ) {
            self.relay = relay
            self.openTime = openTime
            self.readTime = readTime
            self.writeTime = writeTime
            self.supportedNIPs = supportedNIPs
            self.wantsLogin = wantsLogin
            self.information = information
        }

        /// Returns the event, kind 30166.
        public func unsigned(by monitor: PublicKey, now: UnixTime) -> UnsignedEvent {
            var tags = [Tag("d", RelayMonitoring.address(relay)), Tag("n", network)]
            for (name, time) in [("rtt-open", openTime), ("rtt-read", readTime), ("rtt-write", writeTime)] {
                if let time { tags.append(Tag(name, String(time))) }
            }
            tags += supportedNIPs.map { Tag("N", String($0)) }
            tags.append(Tag("R", wantsLogin ? "auth" : "!auth"))
            return UnsignedEvent(
                pubkey: monitor, createdAt: now, kind: .relayDiscovery, tags: tags, content: information ?? "")
        }

        private var network: String {
            relay.host.hasSuffix(".onion") ? "tor" : relay.host.hasSuffix(".i2p") ? "i2p" : "clearnet"
        }
    }

    /// Returns the announcement of a relay monitor, kind 10166.
    ///
    /// - Parameters:
    ///   - frequency: Seconds between two checks of a relay.
    ///   - timeout: Milliseconds after which a check is abandoned.
    public static func announcement(
        by monitor: PublicKey, frequency: Int64, timeout: Int64, checks: [String], now: UnixTime
    ) -> UnsignedEvent {
        let tags = [Tag("frequency", String(frequency)), Tag("timeout", String(timeout))] + checks.map { Tag("c", $0) }
        return UnsignedEvent(pubkey: monitor, createdAt: now, kind: .relayMonitor, tags: tags, content: "")
    }

    /// Returns scheme and host in lower case, without the scheme's default port, with a path.
    static func address(_ relay: RelayURL) -> String {
        "\(relay.isSecure ? "wss" : "ws")://\(relay.authority)\(relay.path)"
    }
}
