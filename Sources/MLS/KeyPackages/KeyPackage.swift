public import TLSCodec

// struct {
//     ProtocolVersion version;
//     CipherSuite cipher_suite;
//     HPKEPublicKey init_key;
//     LeafNode leaf_node;
//     Extension extensions<V>;
//     opaque signature<V>;
// } KeyPackage;

/// Published data for adding a client to groups (RFC 9420 §10); not yet verified.
public struct KeyPackage: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Cipher suite of the groups that the client can join with it.
    public let cipherSuite: CipherSuite
    /// HPKE public key to which Welcomes are encrypted, serialized.
    public let initKey: [UInt8]
    /// The leaf that the client gets in a group.
    public let leafNode: LeafNode
    /// Key package extensions, such as `last_resort`.
    public let extensions: [Extension]
    /// Signature over KeyPackageTBS by the leaf's signature key (RFC 9420 §10).
    public let signature: [UInt8]
    /// The encoding as received or as signed.
    public let encoded: [UInt8]
    private let unsignedCount: Int

    /// Decodes the fields in wire order; refuses versions other than mls10. ``verified(now:)`` checks the rest.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        // V10.1-1: The version is mls10.
        try ProtocolVersion.read(from: &reader)
        self.cipherSuite = try CipherSuite(from: &reader)
        self.initKey = try reader.readOpaque()
        self.leafNode = try LeafNode(from: &reader)
        self.extensions = try reader.readVector(of: Extension.self)
        self.unsignedCount = reader.offset - start
        self.signature = try reader.readOpaque()
        self.encoded = Array(reader.bytes[start..<reader.offset])
    }

    init(
        cipherSuite: CipherSuite, initKey: [UInt8], leafNode: LeafNode, extensions: [Extension],
        signedBy key: SignaturePrivateKey
    ) throws {
        self.cipherSuite = cipherSuite
        self.initKey = initKey
        self.leafNode = leafNode
        self.extensions = extensions
        var writer = TLSWriter(capacity: 768)
        writer.write(ProtocolVersion.mls10)
        cipherSuite.encode(to: &writer)
        writer.writeOpaque(initKey)
        leafNode.encode(to: &writer)
        writer.writeVector(extensions)
        self.unsignedCount = writer.bytes.count
        self.signature = try key.sign(label: "KeyPackageTBS", writer.bytes)
        writer.writeOpaque(self.signature)
        self.encoded = writer.bytes
    }

    /// Encodes the bytes as received or as signed.
    public func encode(to writer: inout TLSWriter) {
        writer.writeFixed(self.encoded)
    }

    /// KeyPackageRef (RFC 9420 §5.2), KDF.Nh bytes.
    public var reference: [UInt8] {
        self.cipherSuite.referenceHash(label: "MLS 1.0 KeyPackage Reference", self.encoded)
    }

    func hasValidSignature() -> Bool {
        self.cipherSuite.verify(
            self.signature, label: "KeyPackageTBS", of: Array(self.encoded[..<self.unsignedCount]),
            publicKey: self.leafNode.signatureKey)
    }
}

extension KeyPackage {
    /// Whether the client allows it to be used more than once: it has the component `last_resort_key_package` (MLS
    /// extensions draft §6.4), or the extension of an early draft.
    public var isLastResort: Bool {
        // X6.4-1: The component marks the key package by its presence, and has no data.
        self.extensions.contains { $0.type == .lastResort }
            || (try? AppDataDictionary(in: self.extensions))?[.lastResortKeyPackage] == []
    }
}
