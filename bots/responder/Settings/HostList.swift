/// The hosts that webhooks and agents may access.
struct HostList: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        /// The host name or address in lower case, without brackets.
        var host: String
        /// The port; nil for any.
        var port: Int?
        /// Whether it may be this machine or a host in a private network.
        var isPrivate: Bool

        /// Parses `api.example`, `api.example:8443`, `127.0.0.1:8080` or `[::1]:8080`. An address or `localhost` is
        /// unambiguous, so it may be private. A name may be private only if the settings allow it, because its name
        /// server can return any address.
        init?(_ text: String, isPrivate: Bool) {
            guard let authority = Authority(text[...]) else { return nil }
            host = authority.host
            port = authority.port
            self.isPrivate = isPrivate || authority.isAddress || authority.host == "localhost"
        }
    }

    var entries: [Entry] = []

    func entry(for authority: Authority, port: Int) -> Entry? {
        entries.first { $0.host == authority.host && ($0.port ?? port) == port }
    }
}

/// A host and an optional port.
struct Authority: Hashable, Sendable {
    var host: String
    var port: Int?

    /// Parses an authority; nil if it has a user name or a placeholder, or is otherwise not a host and an optional port.
    init?(_ text: Substring) {
        let text = text.lowercased()
        var host = text[...]
        var port = text[text.endIndex...]
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[..<end].dropFirst()
            port = text[end...].dropFirst()
            guard host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[colon...]
        }
        let isHost = { (character: Character) in character.isASCII && (character.isLetter || character.isNumber) }
        guard !host.isEmpty, text.hasPrefix("[") || host.allSatisfy({ isHost($0) || "-._".contains($0) }) else {
            return nil
        }
        self.host = String(host)
        guard !port.isEmpty else { return }
        // UInt16 alone would accept "+80".
        guard port.hasPrefix(":"), port.dropFirst().utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = UInt16(port.dropFirst()), number > 0
        else { return nil }
        self.port = Int(number)
    }

    /// Whether the host is an address rather than a name.
    var isAddress: Bool {
        host.contains(":")
            || host.split(separator: ".", omittingEmptySubsequences: false).count == 4
                && host.allSatisfy { $0.isNumber || $0 == "." }
    }
}

/// The start of a URL: scheme and authority.
struct WebAddress: Hashable, Sendable {
    var isSecure: Bool
    var authority: Authority
    var port: Int { authority.port ?? (isSecure ? 443 : 80) }

    /// Parses a URL; nil unless it starts with `http://HOST` or `https://HOST`.
    init?(_ text: String) {
        let lowered = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowered.hasPrefix) else { return nil }
        isSecure = scheme == "https://"
        let rest = text.dropFirst(scheme.count)
        guard let authority = Authority(rest.prefix { !"/?#\\".contains($0) }) else { return nil }
        self.authority = authority
    }
}
