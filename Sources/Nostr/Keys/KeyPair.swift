import CSecp256k1

/// Secret key with its public key, ready to sign. Wiped with the last reference, never printed, compared by public key.
public final class KeyPair: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The x-only public key (BIP-340), always on the curve.
    public let publicKey: PublicKey
    private let storage: SecretBytes

    /// Imports a secret key; throws `NostrError.Code.invalidSecretKey` unless it is 32 bytes encoding 1 to the
    /// curve's order − 1.
    public init(secretKey: some Collection<UInt8>) throws(NostrError) {
        guard secretKey.count == 32 else {
            throw NostrError(.invalidSecretKey, "secret key: expected 32 bytes, found \(secretKey.count)")
        }
        // Always copy the bytes: wiping an array that the caller shares would only wipe a fresh copy of it.
        var secret = [UInt8](repeating: 0, count: 32)
        for (index, byte) in secretKey.enumerated() { secret[index] = byte }
        defer { Sodium.wipe(&secret) }
        guard let (storage, publicKey) = KeyPair.make(secret) else {
            throw NostrError(.invalidSecretKey, "the secret key is zero or too large")
        }
        self.storage = storage
        self.publicKey = publicKey
    }

    /// Parses user input: `nsec1…` (NIP-19) or 64 hexadecimal digits.
    public convenience init(parsing text: String) throws(NostrError) {
        var secret: [UInt8]
        if text.lowercased().hasPrefix(NIP19.Prefix.secretKey + "1") {
            secret = try NIP19.decodeSecretKey(text)
        } else {
            secret = Hex.decode(text) ?? []
            guard secret.count * 2 == text.utf8.count else {
                throw NostrError(.invalidHex, "secret key: expected nsec1… or 64 hexadecimal digits")
            }
        }
        defer { Sodium.wipe(&secret) }
        try self.init(secretKey: secret)
    }

    /// Generates a key; `generator` must be cryptographically secure.
    public static func generate(using generator: inout some RandomNumberGenerator) -> KeyPair {
        // One draw in 2^128 is not a valid key; a generator that fails this often is broken.
        for _ in 0..<16 {
            var secret = Bytes32.random(using: &generator).bytes
            defer { Sodium.wipe(&secret) }
            if let pair = try? KeyPair(secretKey: secret) { return pair }
        }
        preconditionFailure("the random number generator yields no valid key")
    }

    /// Compares the public keys.
    public static func == (left: KeyPair, right: KeyPair) -> Bool { left.publicKey == right.publicKey }
    /// Hashes the public key.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.publicKey) }

    /// Text with the public key only, so that logs never contain the secret.
    public var description: String { "the secret key of \(self.publicKey)" }
    /// A mirror with the public key only.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": self.publicKey]) }

    /// A copy of the 32 secret bytes, which the caller must wipe.
    public var secretBytes: [UInt8] {
        var secret = [UInt8](repeating: 0, count: 32)
        let read = withKeyPair { secp256k1_keypair_sec(Curve.context, &secret, $0) }
        precondition(read == 1, "libsecp256k1 failed to return the secret key")
        return secret
    }

    /// The secret key as `nsec1…` (NIP-19).
    public var nsec: String { NIP19.encode(secretKeyOf: self) }

    /// Returns the BIP-340 signature of an event id.
    public func sign(_ id: EventID, using generator: inout some RandomNumberGenerator) -> Signature {
        let auxiliary = Bytes32.random(using: &generator)
        return Schnorr.sign(id.bytes, with: self, auxiliary: auxiliary)
    }

    func withKeyPair<Result>(_ body: (UnsafePointer<secp256k1_keypair>) -> Result) -> Result {
        storage.withUnsafeBytes { memory in
            memory.withMemoryRebound(to: secp256k1_keypair.self) { pairs in
                guard let pair = pairs.baseAddress else { preconditionFailure("secret memory is never empty") }
                return body(pair)
            }
        }
    }

    private static func make(_ secret: [UInt8]) -> (SecretBytes, PublicKey)? {
        var publicKey: PublicKey?
        let storage = SecretBytes(
            count: MemoryLayout<secp256k1_keypair>.size, alignment: MemoryLayout<secp256k1_keypair>.alignment
        ) { memory in
            memory.withMemoryRebound(to: secp256k1_keypair.self) { pairs in
                guard let pair = pairs.baseAddress, secp256k1_keypair_create(Curve.context, pair, secret) == 1 else {
                    return
                }
                var point = secp256k1_xonly_pubkey()
                guard secp256k1_keypair_xonly_pub(Curve.context, &point, nil, pair) == 1 else { return }
                var serialized = [UInt8](repeating: 0, count: 32)
                secp256k1_xonly_pubkey_serialize(Curve.context, &serialized, &point)
                publicKey = Bytes32(serialized).map(PublicKey.init(value:))
            }
        }
        return publicKey.map { (storage, $0) }
    }
}
