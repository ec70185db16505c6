import CSodium

/// The header of a backup: its type and version, and the values to check its database without a key.
struct BackupHeader: Equatable {
    /// The first 16 bytes of a backup.
    static let magic = Array("pikabot backup\r\n".utf8)
    static let version: UInt32 = 1
    static let hashLength = Int(crypto_hash_sha256_bytes())
    /// Magic, version and database length (both big-endian), the database's SHA-256, and the SHA-256 of all these.
    static let count = magic.count + 4 + 8 + 2 * hashLength

    var length: UInt64
    /// SHA-256 of the database.
    var digest: [UInt8]

    var bytes: [UInt8] {
        var bytes = Self.magic
        withUnsafeBytes(of: Self.version.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: self.length.bigEndian) { bytes.append(contentsOf: $0) }
        bytes += self.digest
        return bytes + BackupDigest.of(bytes)
    }

    init(length: UInt64, digest: [UInt8]) {
        self.length = length
        self.digest = digest
    }

    /// Parses a header. Throws `StoreError.Code.badBackup` or `StoreError.Code.newerFormat`.
    init(_ bytes: [UInt8]) throws(StoreError) {
        guard bytes.starts(with: Self.magic) else { throw StoreError(.badBackup, "not a pikabot backup") }
        guard bytes.count == Self.count else { throw StoreError(.badBackup, "the backup is truncated") }
        var rest = bytes.dropFirst(Self.magic.count)
        func integer(_ count: Int) -> UInt64 {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }
        // A later version may have another header, so the version is checked before the header's hash.
        let version = integer(4)
        guard version <= UInt64(Self.version) else {
            throw StoreError(.newerFormat, "backup version \(version) is newer than this program; use a later version")
        }
        self.length = integer(8)
        self.digest = Array(rest.prefix(Self.hashLength))
        guard version == UInt64(Self.version),
            Array(rest.dropFirst(Self.hashLength)) == BackupDigest.of(bytes.dropLast(Self.hashLength))
        else { throw StoreError(.badBackup, "the backup's header is damaged") }
    }
}

/// Incremental SHA-256.
struct BackupDigest {
    private var state = crypto_hash_sha256_state()

    init() {
        Sodium.prepare()
        crypto_hash_sha256_init(&self.state)
    }

    mutating func append(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        crypto_hash_sha256_update(&self.state, bytes, UInt64(bytes.count))
    }

    consuming func finish() -> [UInt8] {
        var output = [UInt8](repeating: 0, count: BackupHeader.hashLength)
        crypto_hash_sha256_final(&self.state, &output)
        return output
    }

    static func of(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var digest = BackupDigest()
        digest.append(bytes)
        return digest.finish()
    }
}
