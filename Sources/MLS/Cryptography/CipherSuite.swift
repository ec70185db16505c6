public import TLSCodec

/// Cipher suite of RFC 9420 §17.1: the HPKE, AEAD, hash and signature algorithms of a group.
public struct CipherSuite: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Registered number (RFC 9420 §17.1).
    public let rawValue: UInt16

    /// Creates a suite with any number, supported or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519, mandatory to implement and the only one that Marmot uses.
    public static let x25519AES128GCM = CipherSuite(rawValue: 1)
    /// MLS_128_DHKEMP256_AES128GCM_SHA256_P256.
    public static let p256AES128GCM = CipherSuite(rawValue: 2)
    /// MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519.
    public static let x25519ChaCha20Poly1305 = CipherSuite(rawValue: 3)
    /// MLS_256_DHKEMP521_AES256GCM_SHA512_P521.
    public static let p521AES256GCM = CipherSuite(rawValue: 5)
    /// MLS_256_DHKEMP384_AES256GCM_SHA384_P384.
    public static let p384AES256GCM = CipherSuite(rawValue: 7)

    /// Every suite that this library supports.
    public static let supported: [CipherSuite] = [
        .x25519AES128GCM, .p256AES128GCM, .x25519ChaCha20Poly1305, .p521AES256GCM, .p384AES256GCM,
    ]

    /// The number as `0x` and four hexadecimal digits.
    public var description: String {
        let digits = String(self.rawValue, radix: 16)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// Throws `MLSError.Code.unsupportedCipherSuite` for a suite that this library does not support.
    func requireSupported() throws(MLSError) {
        guard Self.supported.contains(self) else {
            let reason =
                self.rawValue == 4 || self.rawValue == 6
                ? "needs X448 and Ed448, which are not supported" : "is not registered in RFC 9420 §17.1"
            throw MLSError(.unsupportedCipherSuite, "cipher suite \(self) \(reason)")
        }
    }

    var hash: HashAlgorithm {
        switch self.rawValue {
        case 5: .sha512
        case 7: .sha384
        default: .sha256
        }
    }

    var aead: AEAD {
        switch self.rawValue {
        case 3: .chaCha20Poly1305
        case 5, 7: .aes256GCM
        default: .aes128GCM
        }
    }

    var kem: KEM {
        switch self.rawValue {
        case 2: .p256
        case 5: .p521
        case 7: .p384
        default: .x25519
        }
    }

    var signature: SignatureScheme {
        switch self.rawValue {
        case 2: .p256
        case 5: .p521
        case 7: .p384
        default: .ed25519
        }
    }

    /// KDF.Nh: length in bytes of a hash and of every epoch secret.
    var hashLength: Int { self.hash.length }
}

extension CipherSuite: TLSEncodable, TLSDecodable {
    /// Decodes a `uint16`; does not check that the suite is supported.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.init(rawValue: try reader.readUInt16())
    }

    /// Encodes the number as a `uint16`.
    public func encode(to writer: inout TLSWriter) {
        writer.write(self.rawValue)
    }
}
