import CSodium
import Crypto
import FoundationEssentials

/// Signature scheme of a cipher suite (RFC 9420 §5.1).
enum SignatureScheme: Sendable {
    case ed25519
    case p256
    case p384
    case p521

    /// Returns whether `signature` is valid for `message` under the serialised `publicKey`.
    ///
    /// Ed25519 is verified by libsodium, which refuses small-order keys; ECDSA signatures are DER (RFC 9420 §5.1.2).
    func verify(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        switch self {
        case .ed25519:
            guard signature.count == 64, publicKey.count == 32 else { return false }
            return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
        case .p256:
            guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey),
                let value = try? P256.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(value, for: message)
        case .p384:
            guard let key = try? P384.Signing.PublicKey(x963Representation: publicKey),
                let value = try? P384.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(value, for: message)
        case .p521:
            guard let key = try? P521.Signing.PublicKey(x963Representation: publicKey),
                let value = try? P521.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(value, for: message)
        }
    }

    /// Length of a serialised private key in bytes.
    var privateKeyLength: Int {
        switch self {
        case .ed25519, .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }
}

/// Signature private key of a cipher suite, kept imported together with its public key.
public final class SignaturePrivateKey: Sendable, CustomStringConvertible {
    private enum Value: Sendable {
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
    }

    private let value: Value
    /// The serialised public key: 32 bytes for Ed25519, an uncompressed point for ECDSA.
    public let publicKey: [UInt8]

    /// Imports a serialised private key; a shorter NIST scalar is padded on the left.
    public init(_ suite: CipherSuite, bytes: [UInt8]) throws(MLSError) {
        try suite.requireSupported()
        let missing = max(0, suite.signature.privateKeyLength - bytes.count)
        var padded = repeatElement(0, count: missing) + bytes
        defer { padded.wipe() }
        do {
            switch suite.signature {
            case .ed25519:
                let key = try Curve25519.Signing.PrivateKey(rawRepresentation: padded)
                self.value = .ed25519(key)
                self.publicKey = [UInt8](key.publicKey.rawRepresentation)
            case .p256:
                let key = try P256.Signing.PrivateKey(rawRepresentation: padded)
                self.value = .p256(key)
                self.publicKey = [UInt8](key.publicKey.x963Representation)
            case .p384:
                let key = try P384.Signing.PrivateKey(rawRepresentation: padded)
                self.value = .p384(key)
                self.publicKey = [UInt8](key.publicKey.x963Representation)
            case .p521:
                let key = try P521.Signing.PrivateKey(rawRepresentation: padded)
                self.value = .p521(key)
                self.publicKey = [UInt8](key.publicKey.x963Representation)
            }
        } catch {
            throw MLSError(.invalidKey, "a signature key of \(bytes.count) bytes is not a \(suite.signature) key")
        }
    }

    /// As ``init(_:bytes:)``, without leaving a copy of the key behind.
    package convenience init(_ suite: CipherSuite, secret: Secret) throws(MLSError) {
        var bytes = secret.copyBytes()
        defer { bytes.wipe() }
        try self.init(suite, bytes: bytes)
    }

    /// Generates a key.
    public static func generate(
        _ suite: CipherSuite, using rng: inout some RandomNumberGenerator
    ) throws(MLSError) -> SignaturePrivateKey {
        try suite.requireSupported()
        // Any 32 bytes are an Ed25519 key; a NIST scalar comes from the KEM's rejection sampling on the same curve.
        var bytes =
            suite.signature == .ed25519
            ? rng.bytes(32) : try suite.kem.generateKeyPair(using: &rng).secret.copyBytes()
        defer { bytes.wipe() }
        return try SignaturePrivateKey(suite, bytes: bytes)
    }

    /// The serialised private key.
    public var secret: Secret {
        switch self.value {
        case .ed25519(let key): key.rawRepresentation.withUnsafeBytes { Secret($0) }
        case .p256(let key): key.rawRepresentation.withUnsafeBytes { Secret($0) }
        case .p384(let key): key.rawRepresentation.withUnsafeBytes { Secret($0) }
        case .p521(let key): key.rawRepresentation.withUnsafeBytes { Secret($0) }
        }
    }

    /// Signs `message`; ECDSA signatures are DER (RFC 9420 §5.1.2).
    func sign(_ message: [UInt8]) throws -> [UInt8] {
        switch self.value {
        case .ed25519(let key): [UInt8](try key.signature(for: message))
        case .p256(let key): [UInt8](try key.signature(for: message).derRepresentation)
        case .p384(let key): [UInt8](try key.signature(for: message).derRepresentation)
        case .p521(let key): [UInt8](try key.signature(for: message).derRepresentation)
        }
    }

    /// The type's name, without any key bytes.
    public var description: String { "SignaturePrivateKey" }
}
