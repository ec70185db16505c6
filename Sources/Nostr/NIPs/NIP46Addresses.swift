/// `bunker://…`: address of a remote signer, handed out by its owner (NIP-46). Contains a secret.
public struct BunkerURL: Hashable, Sendable {
    /// The key that receives messages; not necessarily the one that signs.
    public let remoteSigner: PublicKey
    /// Relays on which client and signer communicate; at least one.
    public let relays: [RelayURL]
    /// Single-use secret with which a new client authenticates.
    public let secret: String?

    /// Creates an address; it can be parsed again only with 1 to 16 relays.
    public init(remoteSigner: PublicKey, relays: [RelayURL], secret: String? = nil) {
        self.remoteSigner = remoteSigner
        self.relays = relays
        self.secret = secret
    }

    /// Parses an address. The error message never contains the input.
    ///
    /// - Throws: `NostrError.Code.invalidSignerURL` for invalid addresses and those without relays.
    public init(_ text: String) throws(NostrError) {
        let address = try SignerAddress(text, scheme: "bunker")
        self.init(
            remoteSigner: address.key, relays: try address.relays(), secret: address.value("secret").flatMap(nonempty))
    }

    /// The address including its secret.
    public var string: String {
        SignerAddress(
            key: self.remoteSigner,
            query: self.relays.map { ("relay", $0.string) } + (self.secret.map { [("secret", $0)] } ?? [])
        ).text(scheme: "bunker")
    }
}

/// `nostrconnect://…`: a client's invitation to a remote signer to connect to it (NIP-46). Contains a secret.
public struct NostrConnectURL: Hashable, Sendable {
    /// The client's own key.
    public let client: PublicKey
    /// Relays on which client and signer communicate; at least one.
    public let relays: [RelayURL]
    /// Secret that the signer's first response must contain.
    public let secret: String
    /// Methods that the client requests; `sign_event` may have a kind, for example `sign_event:445`.
    public let permissions: [String]
    /// The client's name, to be shown to the signer's user.
    public let name: String?

    /// Creates an invitation; it can be parsed again only with 1 to 16 relays and a non-empty secret.
    public init(
        client: PublicKey, relays: [RelayURL], secret: String, permissions: [String] = [], name: String? = nil
    ) {
        self.client = client
        self.relays = relays
        self.secret = secret
        self.permissions = permissions
        self.name = name
    }

    /// Throws `NostrError.Code.invalidSignerURL` for invalid addresses and those without relays or secret.
    public init(_ text: String) throws(NostrError) {
        let address = try SignerAddress(text, scheme: "nostrconnect")
        guard let secret = address.value("secret").flatMap(nonempty) else {
            throw SignerAddress.invalid("`secret` is missing")
        }
        self.init(
            client: address.key, relays: try address.relays(), secret: secret,
            permissions: (address.value("perms") ?? "").split(separator: ",").map(String.init),
            name: address.value("name").flatMap(nonempty))
    }

    /// The address including its secret.
    public var string: String {
        var query = self.relays.map { ("relay", $0.string) } + [("secret", self.secret)]
        if !self.permissions.isEmpty { query.append(("perms", self.permissions.joined(separator: ","))) }
        if let name { query.append(("name", name)) }
        return SignerAddress(key: self.client, query: query).text(scheme: "nostrconnect")
    }
}

// Neither type prints its secret.
extension BunkerURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The signer's key and relays, without the secret.
    public var description: String {
        "remote signer \(self.remoteSigner) on \(self.relays.map(\.string).joined(separator: ", "))"
    }
    /// The same as ``description``.
    public var debugDescription: String { self.description }
    /// A mirror without the secret.
    public var customMirror: Mirror { Mirror(self, children: ["remoteSigner": self.remoteSigner]) }
}

extension NostrConnectURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The client's key and relays, without the secret.
    public var description: String {
        "client \(self.client) on \(self.relays.map(\.string).joined(separator: ", "))"
    }
    /// The same as ``description``.
    public var debugDescription: String { self.description }
    /// A mirror without the secret.
    public var customMirror: Mirror { Mirror(self, children: ["client": self.client]) }
}

private func nonempty(_ text: String) -> String? { text.isEmpty ? nil : text }

/// Common structure of both addresses: a key and a query.
private struct SignerAddress {
    static let maximumLength = 8192
    static let maximumRelays = 16

    let key: PublicKey
    let query: [(name: String, value: String)]

    init(key: PublicKey, query: [(String, String)]) {
        self.key = key
        self.query = query.map { (name: $0.0, value: $0.1) }
    }

    static func invalid(_ reason: String) -> NostrError {
        NostrError(.invalidSignerURL, "invalid remote signer URL: \(reason)")
    }

    init(_ text: String, scheme: String) throws(NostrError) {
        guard text.utf8.count <= Self.maximumLength else { throw Self.invalid("it is too long") }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Self.invalid("it contains a character not allowed in URLs")
        }
        let start = scheme + "://"
        guard text.prefix(start.count).lowercased() == start else {
            throw Self.invalid("it must begin with \(start)")
        }
        let parts = text.dropFirst(start.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let host = parts[0].hasSuffix("/") ? parts[0].dropLast() : parts[0]
        guard let key = try? PublicKey(parsing: String(host)) else {
            throw Self.invalid("expected a public key after \(start)")
        }
        var query: [(String, String)] = []
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query.append((try Self.decode(sides[0]), try Self.decode(sides.count > 1 ? sides[1] : "")))
        }
        self.init(key: key, query: query)
    }

    func value(_ name: String) -> String? { self.query.first { $0.name == name }?.value }

    func relays() throws(NostrError) -> [RelayURL] {
        var relays: [RelayURL] = []
        for (name, value) in self.query where name == "relay" {
            guard let relay = try? RelayURL(value) else { throw Self.invalid("a relay is not a ws:// or wss:// URL") }
            if !relays.contains(relay) { relays.append(relay) }
        }
        guard (1...Self.maximumRelays).contains(relays.count) else {
            throw Self.invalid("expected 1 to \(Self.maximumRelays) relays, found \(relays.count)")
        }
        return relays
    }

    func text(scheme: String) -> String {
        let query = self.query.map { "\(Self.encode($0.name))=\(Self.encode($0.value))" }
        return "\(scheme)://\(self.key.hex)?\(query.joined(separator: "&"))"
    }

    // MARK: Percent signs (RFC 3986 §2.1)

    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    private static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if self.unreserved.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return encoded
    }

    private static func decode(_ text: Substring) throws(NostrError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(Substring(rest.prefix(2)))
            guard digits.utf8.count == 2, let value = Hex.decode(digits.lowercased())?.first else {
                throw self.invalid("expected two hexadecimal digits after %")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw self.invalid("it is not UTF-8") }
        return decoded
    }
}
