/// NIP-49: a secret key encrypted with a password, as `ncryptsec1…`.
///
/// scrypt derives a key from the password, and XChaCha20-Poly1305 encrypts the secret key with it. Time and memory
/// depend on ``EncryptedKey/logN``: 64 MiB at 16, doubled by every increment.
public enum NIP49 {
    /// Maximum accepted cost: 4 GiB of memory, the highest that the NIP lists.
    public static let maximumLogN: UInt8 = 22
    /// Default cost for encrypting keys: 64 MiB of memory, a tenth of a second.
    public static let standardLogN: UInt8 = 16

    static let version: UInt8 = 2
    static let saltLength = 16
    static let nonceLength = 24

    /// How securely a key was handled before it was encrypted, to the knowledge of the client.
    public enum KeySecurity: UInt8, Sendable, Hashable, CaseIterable {
        /// The key was stored or copied unencrypted.
        case knownInsecure = 0
        /// The key is not known to have been stored or copied unencrypted.
        case notKnownInsecure = 1
        /// The client does not track this.
        case untracked = 2
    }

    /// Password in memory that is wiped with the last copy and never printed.
    public struct Password: Sendable, CustomStringConvertible, CustomReflectable {
        let storage: SecretBytes

        /// Wraps a password.
        ///
        /// - Parameter normalizedUTF8: the password in Unicode normalisation form NFKC, which callers must apply,
        ///   because the standard library does not offer it. The array is wiped here unless it is shared.
        public init(normalizedUTF8: consuming [UInt8]) {
            self.storage = SecretBytes(consuming: &normalizedUTF8)
        }

        /// A fixed text without the password.
        public var description: String { "a password (not shown)" }
        /// A mirror without children.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// Parsed `ncryptsec1…`, not yet decrypted. It contains no plaintext secret, but anyone who has it can try
    /// passwords.
    public struct EncryptedKey: Sendable, Hashable {
        /// The binary logarithm of scrypt's N, 1 to ``NIP49/maximumLogN``.
        public let logN: UInt8
        /// The stated handling of the key; authenticated but not encrypted.
        public let security: KeySecurity
        let salt: [UInt8]
        let nonce: [UInt8]
        /// The 32 encrypted bytes of the key and the 16-byte tag.
        let ciphertext: [UInt8]
    }
}

extension NIP49.EncryptedKey {
    private static let length = 2 + NIP49.saltLength + NIP49.nonceLength + 1 + 48

    /// Parses `ncryptsec1…`.
    ///
    /// - Throws: `NostrError.Code.invalidBech32`; `NostrError.Code.unexpectedPrefix` for another entity;
    ///   `NostrError.Code.invalidLength`; `NostrError.Code.unsupportedVersion`; `NostrError.Code.tooCostly` if it
    ///   requires more than ``NIP49/maximumLogN``.
    public init(parsing text: String) throws(NostrError) {
        let (prefix, bytes) = try Bech32.decode(text)
        guard prefix == NIP19.Prefix.encryptedKey else {
            throw NostrError(.unexpectedPrefix, "expected \(NIP19.Prefix.encryptedKey), found another entity")
        }
        guard let version = bytes.first else { throw NostrError(.invalidLength, "the encrypted key is empty") }
        guard version == NIP49.version else {
            throw NostrError(.unsupportedVersion, "version \(version) of encrypted keys is unknown")
        }
        guard bytes.count == Self.length else {
            throw NostrError(.invalidLength, "encrypted key: expected \(Self.length) bytes, found \(bytes.count)")
        }
        let nonceStart = 2 + NIP49.saltLength
        let securityByte = bytes[nonceStart + NIP49.nonceLength]
        guard let security = NIP49.KeySecurity(rawValue: securityByte) else {
            throw NostrError(.unsupportedVersion, "key security \(securityByte) is unknown")
        }
        try Self.check(logN: bytes[1])
        self.logN = bytes[1]
        self.security = security
        self.salt = Array(bytes[2..<nonceStart])
        self.nonce = Array(bytes[nonceStart..<(nonceStart + NIP49.nonceLength)])
        self.ciphertext = Array(bytes[(nonceStart + NIP49.nonceLength + 1)...])
    }

    /// Encrypts a key. `salt` must be 16 and `nonce` 24 fresh random bytes.
    init(
        _ key: KeyPair, password: NIP49.Password, logN: UInt8, security: NIP49.KeySecurity, salt: [UInt8],
        nonce: [UInt8]
    ) throws(NostrError) {
        try Self.check(logN: logN)
        var secret = key.secretBytes
        defer { Sodium.wipe(&secret) }
        let symmetric = try Self.symmetricKey(password, salt: salt, logN: logN)
        self.logN = logN
        self.security = security
        self.salt = salt
        self.nonce = nonce
        self.ciphertext = Sodium.seal(secret, key: symmetric, nonce: nonce, associatedData: [security.rawValue])
    }

    /// Decrypts the key. Blocks while scrypt runs.
    ///
    /// - Throws: `NostrError.Code.wrongPassword`; `NostrError.Code.tooCostly` if there is not enough memory;
    ///   `NostrError.Code.invalidSecretKey`.
    public func decrypt(password: NIP49.Password) throws(NostrError) -> KeyPair {
        let symmetric = try Self.symmetricKey(password, salt: self.salt, logN: self.logN)
        let opened = Sodium.open(
            self.ciphertext, key: symmetric, nonce: self.nonce, associatedData: [self.security.rawValue])
        guard var secret = opened else {
            throw NostrError(.wrongPassword, "the password is wrong, or the encrypted key was altered")
        }
        defer { Sodium.wipe(&secret) }
        return try KeyPair(secretKey: secret)
    }

    /// The encrypted key as `ncryptsec1…`.
    public var text: String {
        let bytes =
            [NIP49.version, self.logN] + self.salt + self.nonce + [self.security.rawValue] + self.ciphertext
        return Bech32.encode(prefix: NIP19.Prefix.encryptedKey, bytes)
    }

    private static func check(logN: UInt8) throws(NostrError) {
        guard (1...NIP49.maximumLogN).contains(logN) else {
            throw NostrError(
                .tooCostly, "scrypt cost N: expected 2^1 to 2^\(NIP49.maximumLogN), found 2^\(logN)")
        }
    }

    private static func symmetricKey(
        _ password: NIP49.Password, salt: [UInt8], logN: UInt8
    ) throws(NostrError) -> SecretBytes {
        guard let key = password.storage.withUnsafeBytes({ Sodium.scrypt($0, salt: salt, logN: logN) }) else {
            throw NostrError(.tooCostly, "not enough memory for scrypt with cost N = 2^\(logN)")
        }
        return key
    }
}

extension KeyPair {
    /// Encrypts this key with a password and returns it as `ncryptsec1…`. Blocks while scrypt runs.
    ///
    /// - Parameter logN: 1 to ``NIP49/maximumLogN``; use values below ``NIP49/standardLogN`` only in tests.
    /// - Throws: `NostrError.Code.tooCostly`.
    public func encrypted(
        password: NIP49.Password, logN: UInt8 = NIP49.standardLogN, security: NIP49.KeySecurity = .untracked,
        using generator: inout some RandomNumberGenerator
    ) throws(NostrError) -> String {
        let salt = Array(Bytes32.random(using: &generator).bytes.prefix(NIP49.saltLength))
        let nonce = Array(Bytes32.random(using: &generator).bytes.prefix(NIP49.nonceLength))
        return try NIP49.EncryptedKey(
            self, password: password, logN: logN, security: security, salt: salt, nonce: nonce
        ).text
    }
}
