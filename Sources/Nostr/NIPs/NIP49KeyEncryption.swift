/// NIP-49: a secret key under a password, as `ncryptsec1…`.
///
/// scrypt makes a key of the password, XChaCha20-Poly1305 encrypts the secret key with it. Both take as much time and
/// memory as ``EncryptedKey/logN`` says: 64 MiB at 16, four times that for every two more.
public enum NIP49 {
    /// What one encrypted key may take at most: 4 GiB, the highest that the NIP names.
    public static let maximumLogN: UInt8 = 22
    /// What keys are encrypted with unless something else is asked for: 64 MiB, a tenth of a second.
    public static let standardLogN: UInt8 = 16

    static let version: UInt8 = 2
    static let saltLength = 16
    static let nonceLength = 24

    /// How a key was treated before it was encrypted, as far as the client knows.
    public enum KeySecurity: UInt8, Sendable, Hashable, CaseIterable {
        /// It was stored or copied unencrypted.
        case knownInsecure = 0
        case notKnownInsecure = 1
        /// The client does not keep track of that.
        case untracked = 2
    }

    /// A password in memory that is wiped with the last copy; never described.
    public struct Password: Sendable, CustomStringConvertible, CustomReflectable {
        let storage: SecretBytes

        /// - Parameter normalizedUTF8: the password in Unicode's normalisation form NFKC, which this library leaves to
        ///   its callers: the standard library does not have it. Wiped here, if nobody else holds the array.
        public init(normalizedUTF8: consuming [UInt8]) {
            self.storage = SecretBytes(consuming: &normalizedUTF8)
        }

        public var description: String { "a password (not shown)" }
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// An `ncryptsec1…` that was read, and not opened yet. Nothing in it is secret by itself, but whoever has it can
    /// try passwords.
    public struct EncryptedKey: Sendable, Hashable {
        /// The binary logarithm of scrypt's N, 1 to ``NIP49/maximumLogN``.
        public let logN: UInt8
        public let security: KeySecurity
        let salt: [UInt8]
        let nonce: [UInt8]
        /// The 32 bytes of the key, and a tag of 16.
        let ciphertext: [UInt8]
    }
}

extension NIP49.EncryptedKey {
    private static let length = 2 + NIP49.saltLength + NIP49.nonceLength + 1 + 48

    /// Reads `ncryptsec1…`.
    ///
    /// Throws ``NostrError/Code/invalidBech32``, ``NostrError/Code/unexpectedPrefix`` for another entity,
    /// ``NostrError/Code/invalidLength``, ``NostrError/Code/unsupportedVersion``, and
    /// ``NostrError/Code/tooCostly`` if it asks for more than ``NIP49/maximumLogN``.
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
            throw NostrError(.invalidLength, "an encrypted key has \(Self.length) bytes, not \(bytes.count)")
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

    /// Encrypts a key. `salt` has 16 and `nonce` 24 fresh random bytes.
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

    /// The key. Blocks for as long as scrypt takes.
    ///
    /// Throws ``NostrError/Code/wrongPassword``, ``NostrError/Code/tooCostly`` if there is not enough memory, and
    /// ``NostrError/Code/invalidSecretKey``.
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

    /// `ncryptsec1…`.
    public var text: String {
        let bytes =
            [NIP49.version, self.logN] + self.salt + self.nonce + [self.security.rawValue] + self.ciphertext
        return Bech32.encode(prefix: NIP19.Prefix.encryptedKey, bytes)
    }

    private static func check(logN: UInt8) throws(NostrError) {
        guard (1...NIP49.maximumLogN).contains(logN) else {
            throw NostrError(
                .tooCostly, "the key derivation asks for 2^\(logN) rounds; 2^1 to 2^\(NIP49.maximumLogN) are allowed")
        }
    }

    private static func symmetricKey(
        _ password: NIP49.Password, salt: [UInt8], logN: UInt8
    ) throws(NostrError) -> SecretBytes {
        guard let key = password.storage.withUnsafeBytes({ Sodium.scrypt($0, salt: salt, logN: logN) }) else {
            throw NostrError(.tooCostly, "there is not enough memory for the key derivation with 2^\(logN) rounds")
        }
        return key
    }
}

extension KeyPair {
    /// This key under a password, `ncryptsec1…`. Blocks for as long as scrypt takes.
    ///
    /// - Parameter logN: 1 to ``NIP49/maximumLogN``; what is below ``NIP49/standardLogN`` is for tests.
    ///
    /// Throws ``NostrError/Code/tooCostly``.
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
