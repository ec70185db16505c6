import NIOCore

/// Decides by the `Host` header (RFC 9110 §7.2) whether a request was meant for this endpoint.
///
/// A web page can make its own name resolve to an address of this machine (DNS rebinding), and then read the endpoint
/// through the browser of anyone who can reach it. Such a request carries the page's name, so only known names are
/// admitted. Addresses need no list: a browser sends an address as host only to that address.
package struct HostRule: Sendable, Hashable {
    private let names: Set<String>

    /// - Parameter names: admitted besides addresses, `localhost` and names below `localhost`.
    package init(names: some Sequence<String> = EmptyCollection<String>()) {
        self.names = Set(names.map(Self.normalized))
    }

    /// - Parameter host: the value of the header, with or without a port.
    package func admits(_ host: String) -> Bool {
        guard let host = Self.withoutPort(host) else { return false }
        if host.hasPrefix("[") { return Self.isAddress(host.dropFirst().dropLast(), .inet6) }
        if Self.isAddress(host, .inet) { return true }
        let name = Self.normalized(host)
        return name == "localhost" || name.hasSuffix(".localhost") || names.contains(name)
    }

    /// Returns the name in lower case, without a trailing dot.
    private static func normalized(_ name: some StringProtocol) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    private static func isAddress(_ text: some StringProtocol, _ family: NIOBSDSocket.ProtocolFamily) -> Bool {
        (try? SocketAddress(ipAddress: String(text), port: 0))?.protocol == family
    }

    /// Removes the port; nil unless it is `host` or `host:port`, where an IPv6 address has brackets.
    private static func withoutPort(_ host: String) -> Substring? {
        let end: String.Index
        if host.hasPrefix("[") {
            guard let bracket = host.firstIndex(of: "]") else { return nil }
            end = host.index(after: bracket)
        } else {
            end = host.firstIndex(of: ":") ?? host.endIndex
        }
        let port = host[end...]
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            end > host.startIndex
        else { return nil }
        return host[..<end]
    }
}
