/// The secrets of one bot by name, bounded in number and size, and their stored form.
struct VaultContents: Hashable, Sendable {
    static let maximumSecrets = 64
    static let maximumBytes = 4_096
    private static let version: UInt8 = 1

    private var secrets: [String: BotSecret] = [:]

    init() {}

    /// Nil for bytes that ``bytes`` did not return.
    init?(_ bytes: [UInt8]) {
        guard var reader = RecordReader(bytes, version: Self.version), let count = reader.count(of: 17),
            count <= Self.maximumSecrets
        else { return nil }
        for _ in 0..<count {
            guard let name = reader.text(), Self.isName(name), secrets[name] == nil, let secret = reader.data(),
                secret.count <= Self.maximumBytes
            else { return nil }
            secrets[name] = BotSecret(secret)
        }
        guard reader.isAtEnd else { return nil }
    }

    /// The stored form; wipe it after use.
    var bytes: [UInt8] {
        // Both sums are bounded by the limits above.
        let size = secrets.reduce(32) { $0 + $1.key.utf8.count + $1.value.count + 16 }
        var writer = RecordWriter(version: Self.version, capacity: size)
        writer.integer(Int64(secrets.count))
        for (name, secret) in secrets.sorted(by: { $0.key < $1.key }) {
            writer.text(name)
            secret.withBytes { writer.data($0) }
        }
        return writer.bytes
    }

    var names: [String] { secrets.keys.sorted() }

    func secret(_ name: String) -> BotSecret? { secrets[name] }

    /// Replaces secrets, or removes them for nil. Throws `BotError.Code.vaultRefused`, and then changes nothing.
    mutating func apply(_ changes: [String: BotSecret?]) throws(BotError) {
        var changed = secrets
        for (name, secret) in changes {
            guard Self.isName(name) else {
                throw BotError(.vaultRefused, "the name of a secret must have 1 to 64 of a-z, 0-9 and . _ -")
            }
            if let secret, secret.count > Self.maximumBytes {
                throw BotError(
                    .vaultRefused, "\(name): expected at most \(Self.maximumBytes) bytes, found \(secret.count)")
            }
            changed[name] = secret
        }
        guard changed.count <= Self.maximumSecrets else {
            throw BotError(.vaultRefused, "a bot can keep at most \(Self.maximumSecrets) secrets; remove one")
        }
        secrets = changed
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
