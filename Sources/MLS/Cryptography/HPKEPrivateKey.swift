import Crypto
import FoundationEssentials

/// HPKE private key of a cipher suite, kept imported together with its public key.
///
/// Importing the key again for every operation would double the cost of opening.
public final class HPKEPrivateKey: Sendable, CustomStringConvertible {
    private enum Value: Sendable {
        case x25519(Curve25519.KeyAgreement.PrivateKey)
        case p256(P256.KeyAgreement.PrivateKey)
        case p384(P384.KeyAgreement.PrivateKey)
        case p521(P521.KeyAgreement.PrivateKey)
    }

    private let value: Value
    let kem: KEM
    /// The serialised public key (RFC 9180 §7.1.1).
    public let publicKey: [UInt8]

    init(_ kem: KEM, bytes: Secret) throws(MLSError) {
        do {
            (self.value, self.publicKey) = try bytes.withUnsafeBytes { bytes -> (Value, [UInt8]) in
                switch kem {
                case .x25519:
                    let key = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
                    return (.x25519(key), [UInt8](key.publicKey.rawRepresentation))
                case .p256:
                    let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes)
                    return (.p256(key), [UInt8](key.publicKey.x963Representation))
                case .p384:
                    let key = try P384.KeyAgreement.PrivateKey(rawRepresentation: bytes)
                    return (.p384(key), [UInt8](key.publicKey.x963Representation))
                case .p521:
                    let key = try P521.KeyAgreement.PrivateKey(rawRepresentation: bytes)
                    return (.p521(key), [UInt8](key.publicKey.x963Representation))
                }
            }
        } catch {
            throw MLSError(.invalidKey, "an HPKE private key of \(bytes.count) bytes is not a \(kem) key")
        }
        self.kem = kem
    }

    /// Imports a serialised private key (RFC 9180 §7.1.2); a shorter NIST scalar is padded on the left.
    public convenience init(_ suite: CipherSuite, bytes: [UInt8]) throws(MLSError) {
        try suite.requireSupported()
        let missing = max(0, suite.kem.privateKeyLength - bytes.count)
        try self.init(suite.kem, bytes: Secret(repeatElement(0, count: missing) + bytes))
    }

    /// Generates a key pair.
    public static func generate(
        _ suite: CipherSuite, using rng: inout some RandomNumberGenerator
    ) throws(MLSError) -> HPKEPrivateKey {
        try suite.requireSupported()
        return try suite.kem.generateKeyPair(using: &rng)
    }

    /// The serialised private key (RFC 9180 §7.1.2).
    public var secret: Secret {
        switch self.value {
        case .x25519(let key): key.rawRepresentation.withUnsafeBytes { Secret($0) }
        case .p256(let key): key.rawRepresentation.withUnsafeBytes { Secret($0) }
        case .p384(let key): key.rawRepresentation.withUnsafeBytes { Secret($0) }
        case .p521(let key): key.rawRepresentation.withUnsafeBytes { Secret($0) }
        }
    }

    /// Returns DH(sk, pk), RFC 9180 §4.1; refuses an all-zero X25519 result (RFC 9180 §7.1.4).
    func agree(with peer: [UInt8]) throws(MLSError) -> Secret {
        let shared: Secret
        do {
            shared = try self.sharedSecret(with: peer)
        } catch {
            throw MLSError(.invalidKey, "an HPKE public key of \(peer.count) bytes is not a \(self.kem) key")
        }
        if self.kem == .x25519, shared.withUnsafeBytes({ $0.allSatisfy { $0 == 0 } }) {
            throw MLSError(.invalidKey, "an X25519 shared secret is zero (RFC 9180 §7.1.4)")
        }
        return shared
    }

    private func sharedSecret(with peer: [UInt8]) throws -> Secret {
        switch self.value {
        case .x25519(let key):
            try key.sharedSecretFromKeyAgreement(with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: peer))
                .withUnsafeBytes { Secret($0) }
        case .p256(let key):
            try key.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(x963Representation: peer))
                .withUnsafeBytes { Secret($0) }
        case .p384(let key):
            try key.sharedSecretFromKeyAgreement(with: P384.KeyAgreement.PublicKey(x963Representation: peer))
                .withUnsafeBytes { Secret($0) }
        case .p521(let key):
            try key.sharedSecretFromKeyAgreement(with: P521.KeyAgreement.PublicKey(x963Representation: peer))
                .withUnsafeBytes { Secret($0) }
        }
    }

    /// The KEM, without any key bytes.
    public var description: String { "HPKEPrivateKey(\(self.kem))" }
}
