public import TLSCodec

// struct {
//     KeyPackageRef new_member;
//     HPKECiphertext encrypted_group_secrets;
// } EncryptedGroupSecrets;

/// Group secrets encrypted to one new member (RFC 9420 §12.4.3.1).
public struct EncryptedGroupSecrets: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// KeyPackageRef (RFC 9420 §5.2) of the new member's key package.
    public let newMember: [UInt8]
    /// GroupSecrets, encrypted to the key package's init key.
    public let encryptedGroupSecrets: HPKECiphertext

    init(newMember: [UInt8], encryptedGroupSecrets: HPKECiphertext) {
        self.newMember = newMember
        self.encryptedGroupSecrets = encryptedGroupSecrets
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.newMember = try reader.readOpaque()
        self.encryptedGroupSecrets = try HPKECiphertext(from: &reader)
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeOpaque(self.newMember)
        self.encryptedGroupSecrets.encode(to: &writer)
    }
}

// struct {
//     CipherSuite cipher_suite;
//     EncryptedGroupSecrets secrets<V>;
//     opaque encrypted_group_info<V>;
// } Welcome;

/// Invitation to a group for all members that a commit adds (RFC 9420 §12.4.3.1).
public struct Welcome: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Cipher suite of the group.
    public let cipherSuite: CipherSuite
    /// Group secrets for each new member.
    public let secrets: [EncryptedGroupSecrets]
    /// GroupInfo, encrypted under a key that the group secrets yield.
    public let encryptedGroupInfo: [UInt8]

    init(cipherSuite: CipherSuite, secrets: [EncryptedGroupSecrets], encryptedGroupInfo: [UInt8]) {
        self.cipherSuite = cipherSuite
        self.secrets = secrets
        self.encryptedGroupInfo = encryptedGroupInfo
    }

    /// Decodes the fields in wire order; decrypts nothing.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.cipherSuite = try CipherSuite(from: &reader)
        self.secrets = try reader.readVector(of: EncryptedGroupSecrets.self)
        self.encryptedGroupInfo = try reader.readOpaque()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        self.cipherSuite.encode(to: &writer)
        writer.writeVector(self.secrets)
        writer.writeOpaque(self.encryptedGroupInfo)
    }

    /// Returns the Welcome with the secrets of one new member only, which that member accepts like the whole; nil if it
    /// has none for this KeyPackageRef.
    public func only(for keyPackage: [UInt8]) -> Welcome? {
        guard let entry = self.secrets.first(where: { $0.newMember == keyPackage }) else { return nil }
        return Welcome(cipherSuite: self.cipherSuite, secrets: [entry], encryptedGroupInfo: self.encryptedGroupInfo)
    }

    /// Derives key and nonce of the encrypted GroupInfo (RFC 9420 §12.4.3.1).
    static func key(_ suite: CipherSuite, welcomeSecret: Secret) -> MessageKey {
        MessageKey(
            key: suite.expandWithLabel(welcomeSecret, "key", length: suite.aead.keyLength),
            nonce: suite.expandWithLabel(welcomeSecret, "nonce", length: suite.aead.nonceLength))
    }
}

// struct {
//     opaque joiner_secret<V>;
//     optional<PathSecret> path_secret;
//     PreSharedKeyID psks<V>;
// } GroupSecrets;

/// Secrets from which a new member derives the epoch (RFC 9420 §12.4.3.1).
struct GroupSecrets: Sendable, TLSDecodable {
    let joinerSecret: Secret
    let pathSecret: Secret?
    let psks: [PreSharedKeyID]

    init(joinerSecret: Secret, pathSecret: Secret?, psks: [PreSharedKeyID]) {
        self.joinerSecret = joinerSecret
        self.pathSecret = pathSecret
        self.psks = psks
    }

    private struct PathSecret: TLSDecodable {
        let secret: Secret
        init(from reader: inout TLSReader) throws(TLSCodecError) { self.secret = try reader.readSecret() }
    }

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.joinerSecret = try reader.readSecret()
        self.pathSecret = try reader.readOptional(PathSecret.self)?.secret
        self.psks = try reader.readVector(of: PreSharedKeyID.self)
    }

    /// Returns the encoding as a secret.
    func encoded() -> Secret {
        var writer = TLSWriter(capacity: 256)
        writer.writeSecret(self.joinerSecret)
        if let pathSecret {
            writer.write(UInt8(1))
            writer.writeSecret(pathSecret)
        } else {
            writer.write(UInt8(0))
        }
        writer.writeVector(self.psks)
        return writer.takeSecret()
    }
}
