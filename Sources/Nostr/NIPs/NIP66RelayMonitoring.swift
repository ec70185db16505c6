/// NIP-66: what those who watch relays tell others of them.
public enum RelayMonitoring {
    /// What was found at one relay.
    public struct Discovery: Hashable, Sendable {
        public var relay: RelayURL
        /// Milliseconds to open a connection, to have an answer, and to have something taken; nil if that did not work.
        public var openTime: Int64?
        public var readTime: Int64?
        public var writeTime: Int64?
        public var supportedNIPs: [Int]
        public var wantsLogin: Bool
        /// Its NIP-11 document as it came; nil for none.
        public var information: String?

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

        /// Kind 30166.
        public func unsigned(by monitor: PublicKey, now: Int64) -> UnsignedEvent {
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

    /// Kind 10166: that somebody watches relays.
    ///
    /// - Parameters:
    ///   - frequency: Seconds from one look at a relay to the next.
    ///   - timeout: Milliseconds after which one is given up.
    public static func announcement(
        by monitor: PublicKey, frequency: Int64, timeout: Int64, checks: [String], now: Int64
    ) -> UnsignedEvent {
        let tags = [Tag("frequency", String(frequency)), Tag("timeout", String(timeout))] + checks.map { Tag("c", $0) }
        return UnsignedEvent(pubkey: monitor, createdAt: now, kind: .relayMonitor, tags: tags, content: "")
    }

    /// Scheme and host in small letters, without the scheme's own port, with a path.
    static func address(_ relay: RelayURL) -> String {
        "\(relay.isSecure ? "wss" : "ws")://\(relay.authority)\(relay.path)"
    }
}
