/// URL of a relay: `ws://` or `wss://`, a host, and optionally a port, path and query.
///
/// Two URLs are equal if they name the same endpoint: the case of scheme and host, the scheme's default port and one
/// trailing slash are ignored.
public struct RelayURL: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Maximum length of the text in bytes.
    public static let maximumLength = 2048

    /// The text exactly as given, as used in tags.
    public let string: String
    /// Whether the scheme is `wss://`.
    public let isSecure: Bool
    /// The host in lower case; an IPv6 address without brackets.
    public let host: String
    /// The port, 1 to 65535; the scheme's default, 80 or 443, if the text has none.
    public let port: Int
    /// Path and query for the HTTP request; starts with a slash.
    public let path: String
    private let normalized: String

    /// Throws `NostrError.Code.invalidRelayURL` for anything else, including user names, fragments, blanks and
    /// non-ASCII characters.
    public init(_ text: String) throws(NostrError) {
        guard text.utf8.count <= RelayURL.maximumLength else { throw RelayURL.invalid("it is too long") }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !RelayURL.forbidden.contains($0) }) else {
            throw RelayURL.invalid("it contains a character not allowed in URLs")
        }
        let (isSecure, rest) = try RelayURL.splitScheme(text)
        let pathStart = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let (host, port) = try RelayURL.splitAuthority(rest[..<pathStart])
        let path = rest[pathStart...]
        self.string = text
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        self.path = path.hasPrefix("/") ? String(path) : "/" + path
        let authority = RelayURL.authority(host: host, port: self.port, isSecure: isSecure)
        normalized =
            (isSecure ? "wss://" : "ws://") + authority
            + (self.path.hasSuffix("/") ? self.path.dropLast() : self.path[...])
    }

    /// Host and, unless it is the scheme's default, port: the value of an HTTP `Host` header.
    public var authority: String { RelayURL.authority(host: host, port: port, isSecure: isSecure) }

    /// The same as ``string``.
    public var description: String { string }

    /// Compares the normalised URLs.
    public static func == (left: RelayURL, right: RelayURL) -> Bool { left.normalized == right.normalized }
    /// Compares the normalised URLs as text.
    public static func < (left: RelayURL, right: RelayURL) -> Bool { left.normalized < right.normalized }
    /// Hashes the normalised URL.
    public func hash(into hasher: inout Hasher) { hasher.combine(normalized) }
}

extension RelayURL {
    private static let forbidden = Set("\"<>\\^`{|}#".utf8)
    private static let hostCharacters = Set("abcdefghijklmnopqrstuvwxyz0123456789-._".utf8)

    private static func invalid(_ reason: String) -> NostrError {
        NostrError(.invalidRelayURL, "invalid relay URL: \(reason)")
    }

    private static func splitScheme(_ text: String) throws(NostrError) -> (isSecure: Bool, rest: Substring) {
        let lower = text.prefix(6).lowercased()
        if lower == "wss://" { return (true, text.dropFirst(6)) }
        if lower.hasPrefix("ws://") { return (false, text.dropFirst(5)) }
        throw invalid("it must begin with ws:// or wss://")
    }

    private static func splitAuthority(_ text: Substring) throws(NostrError) -> (host: String, port: Int?) {
        let lower = text.lowercased()
        if lower.hasPrefix("[") {
            guard let end = lower.firstIndex(of: "]") else { throw invalid("unclosed bracket") }
            let host = lower[lower.index(after: lower.startIndex)..<end]
            let digits = Set("0123456789abcdef:.".utf8)
            guard host.contains(":"), host.utf8.allSatisfy(digits.contains) else { throw invalid("invalid host") }
            return (String(host), try port(lower[lower.index(after: end)...]))
        }
        let end = lower.firstIndex(of: ":") ?? lower.endIndex
        let host = lower[..<end]
        guard !host.isEmpty, host.utf8.allSatisfy(hostCharacters.contains) else { throw invalid("invalid host") }
        return (String(host), try port(lower[end...]))
    }

    /// Parses the text after the host: empty, or a colon and a number.
    private static func port(_ text: Substring) throws(NostrError) -> Int? {
        guard !text.isEmpty else { return nil }
        guard text.hasPrefix(":"), let port = UInt16(decimal: text.dropFirst()), port > 0 else {
            throw invalid("invalid port")
        }
        return Int(port)
    }

    private static func authority(host: String, port: Int, isSecure: Bool) -> String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}
