import TLSCodec

/// Key package with its private keys, kept by the client until a Welcome arrives.
public struct KeyPackageBundle: Sendable {
    /// The public part.
    public let keyPackage: KeyPackage
    /// Private key of the key package's init key.
    public let initKey: HPKEPrivateKey
    /// Private key of the leaf's encryption key.
    public let encryptionKey: HPKEPrivateKey
    /// Private key of the leaf's signature key.
    public let signatureKey: SignaturePrivateKey

    /// Creates a bundle without checking that the private keys belong to the key package.
    public init(
        keyPackage: KeyPackage, initKey: HPKEPrivateKey, encryptionKey: HPKEPrivateKey,
        signatureKey: SignaturePrivateKey
    ) {
        self.keyPackage = keyPackage
        self.initKey = initKey
        self.encryptionKey = encryptionKey
        self.signatureKey = signatureKey
    }

    /// Generates and signs a new key package (RFC 9420 §10).
    public static func generate(
        _ suite: CipherSuite, credential: Credential, capabilities: Capabilities, lifetime: Lifetime,
        signatureKey: SignaturePrivateKey, extensions: [Extension] = [], leafExtensions: [Extension] = [],
        using rng: inout some RandomNumberGenerator
    ) throws -> KeyPackageBundle {
        let initKey = try HPKEPrivateKey.generate(suite, using: &rng)
        let encryptionKey = try HPKEPrivateKey.generate(suite, using: &rng)
        let leaf = try LeafNode(
            encryptionKey: encryptionKey.publicKey, credential: credential, capabilities: capabilities,
            source: .keyPackage(lifetime), extensions: leafExtensions, position: nil, signedBy: signatureKey)
        let package = try KeyPackage(
            cipherSuite: suite, initKey: initKey.publicKey, leafNode: leaf, extensions: extensions,
            signedBy: signatureKey)
        return KeyPackageBundle(
            keyPackage: package, initKey: initKey, encryptionKey: encryptionKey, signatureKey: signatureKey)
    }
}

extension KeyPackageBundle {
    /// Throws `MLSError.Code.invalidKey` unless the private keys belong to the key package.
    func requireMatchingKeys() throws(MLSError) {
        let leaf = self.keyPackage.leafNode
        guard self.initKey.publicKey == self.keyPackage.initKey, self.encryptionKey.publicKey == leaf.encryptionKey,
            self.signatureKey.publicKey == leaf.signatureKey
        else { throw MLSError(.invalidKey, "a private key does not belong to its key package") }
    }
}

/// Stored form, version 1.
extension KeyPackageBundle {
    /// The key package and its private keys; the caller must seal them.
    public var stored: Secret {
        var writer = TLSWriter(capacity: 1024)
        writer.write(UInt16(1))
        self.keyPackage.encode(to: &writer)
        writer.writeSecret(self.initKey.secret)
        writer.writeSecret(self.encryptionKey.secret)
        writer.writeSecret(self.signatureKey.secret)
        return writer.takeSecret()
    }

    /// Restores a bundle from ``stored``.
    public init(stored: Secret) throws(MLSError) {
        do {
            let fields = try stored.decode(StoredBundle.init(from:))
            let suite = fields.keyPackage.cipherSuite
            try suite.requireSupported()
            self.init(
                keyPackage: fields.keyPackage, initKey: try HPKEPrivateKey(suite.kem, bytes: fields.initKey),
                encryptionKey: try HPKEPrivateKey(suite.kem, bytes: fields.encryptionKey),
                signatureKey: try SignaturePrivateKey(suite, secret: fields.signatureKey))
            try self.requireMatchingKeys()
        } catch {
            throw MLSError(.invalidStoredForm, "key package: \(error)")
        }
    }
}

/// The fields of a stored bundle.
private struct StoredBundle {
    let keyPackage: KeyPackage
    let initKey: Secret
    let encryptionKey: Secret
    let signatureKey: Secret

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        let version = try reader.readUInt16()
        guard version == 1 else {
            throw TLSCodecError(
                .invalidValue, offset: 0, "stored form has version \(version), this library reads 1")
        }
        self.keyPackage = try KeyPackage(from: &reader)
        self.initKey = try reader.readSecret()
        self.encryptionKey = try reader.readSecret()
        self.signatureKey = try reader.readSecret()
    }
}
