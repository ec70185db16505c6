import Crypto
import FoundationEssentials

/// The DHKEM of a cipher suite (RFC 9180 §4.1, §7.1).
enum KEM: Sendable {
    case x25519
    case p256
    case p384
    case p521

    /// The two-byte id of RFC 9180 §7.1.
    var identifier: UInt16 {
        switch self {
        case .x25519: 0x0020
        case .p256: 0x0010
        case .p384: 0x0011
        case .p521: 0x0012
        }
    }

    var hash: HashAlgorithm {
        switch self {
        case .x25519, .p256: .sha256
        case .p384: .sha384
        case .p521: .sha512
        }
    }

    /// Npk = Nenc: length in bytes of a serialised public key.
    var publicKeyLength: Int {
        switch self {
        case .x25519: 32
        case .p256: 65
        case .p384: 97
        case .p521: 133
        }
    }

    /// Nsk: length in bytes of a serialised private key.
    var privateKeyLength: Int {
        switch self {
        case .x25519, .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// Throws `MLSError.Code.invalidKey` unless `key` is a serialised public key on the curve.
    func validate(publicKey key: [UInt8]) throws(MLSError) {
        do {
            switch self {
            case .x25519: _ = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: key)
            case .p256: _ = try P256.KeyAgreement.PublicKey(x963Representation: key)
            case .p384: _ = try P384.KeyAgreement.PublicKey(x963Representation: key)
            case .p521: _ = try P521.KeyAgreement.PublicKey(x963Representation: key)
            }
        } catch {
            throw MLSError(
                .invalidKey,
                "HPKE public key: expected a valid \(self) key of \(self.publicKeyLength) bytes, found \(key.count)")
        }
        if self == .x25519, X25519LowOrder.contains(key) {
            throw MLSError(.invalidKey, "an X25519 public key is a point of low order (RFC 9180 §7.1.4)")
        }
    }

    /// Returns DeriveKeyPair(ikm), RFC 9180 §7.1.3.
    func deriveKeyPair(_ inputKeyMaterial: Secret) throws(MLSError) -> HPKEPrivateKey {
        let suite = self.suiteIdentifier
        let prk = self.hash.labeledExtract(salt: .empty, suite: suite, label: "dkp_prk", inputKeyMaterial)
        if self == .x25519 {
            return try HPKEPrivateKey(
                self, bytes: self.hash.labeledExpand(prk, suite: suite, label: "sk", info: [], length: 32))
        }
        for counter in UInt8(0)...255 {
            let candidate = self.hash.labeledExpand(
                prk, suite: suite, label: "candidate", info: [counter], length: self.privateKeyLength)
            let masked = self == .p521 ? candidate.maskingFirstByte(0x01) : candidate
            // The import fails for 0 and for values not below the order, which is the condition of the RFC's loop.
            if let key = try? HPKEPrivateKey(self, bytes: masked) { return key }
        }
        throw MLSError(.invalidKey, "key derivation failed after 256 attempts (RFC 9180 §7.1.3)")
    }

    /// Generates a key pair from `rng`.
    func generateKeyPair(using rng: inout some RandomNumberGenerator) throws(MLSError) -> HPKEPrivateKey {
        try self.deriveKeyPair(Secret.random(count: self.privateKeyLength, using: &rng))
    }

    var suiteIdentifier: [UInt8] {
        [0x4B, 0x45, 0x4D, UInt8(self.identifier >> 8), UInt8(self.identifier & 0xFF)]
    }

    /// Returns ExtractAndExpand(dh, kem_context), RFC 9180 §4.1.
    func extractAndExpand(_ sharedPoint: Secret, context: [UInt8]) -> Secret {
        let suite = self.suiteIdentifier
        let prk = self.hash.labeledExtract(salt: .empty, suite: suite, label: "eae_prk", sharedPoint)
        return self.hash.labeledExpand(
            prk, suite: suite, label: "shared_secret", info: context, length: self.hash.length)
    }
}

extension Secret {
    static let empty = Secret(count: 0) { _ in }

    /// Returns `count` random bytes from `rng`.
    public static func random(count: Int, using rng: inout some RandomNumberGenerator) -> Secret {
        Secret(count: count) { rng.fill($0) }
    }

    fileprivate func maskingFirstByte(_ mask: UInt8) -> Secret {
        Secret(count: self.count) { output in
            self.withUnsafeBytes { output.copyMemory(from: $0) }
            output[0] &= mask
        }
    }
}

extension RandomNumberGenerator {
    /// Fills `output` with random bytes.
    mutating func fill(_ output: UnsafeMutableRawBufferPointer) {
        var index = 0
        while index < output.count {
            var word = self.next() as UInt64
            for _ in 0..<min(8, output.count - index) {
                output[index] = UInt8(truncatingIfNeeded: word)
                word >>= 8
                index += 1
            }
        }
    }

    /// Returns `count` random bytes that are not secret, for example for a nonce.
    mutating func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { output, written in
            self.fill(UnsafeMutableRawBufferPointer(output))
            written = count
        }
    }
}

/// The points of order 1, 2, 4 and 8 on Curve25519 and its twist, which make every shared secret zero.
enum X25519LowOrder {
    private static let points: Set<[UInt8]> = [
        Self.point("0000000000000000000000000000000000000000000000000000000000000000"),
        Self.point("0100000000000000000000000000000000000000000000000000000000000000"),
        Self.point("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        Self.point("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        Self.point("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        Self.point("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        Self.point("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    ]

    /// Returns whether `key` is one of these points. Ignores the top bit, as X25519 does (RFC 7748 §5).
    static func contains(_ key: [UInt8]) -> Bool {
        guard key.count == 32 else { return false }
        var masked = key
        masked[31] &= 0x7F
        return self.points.contains(masked)
    }

    private static func point(_ hex: String) -> [UInt8] {
        var digits = hex.utf8.makeIterator()
        var bytes: [UInt8] = []
        while let high = digits.next(), let low = digits.next() {
            bytes.append(self.digit(high) << 4 | self.digit(low))
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8 {
        character < 0x61 ? character - 0x30 : character - 0x61 + 10
    }
}
