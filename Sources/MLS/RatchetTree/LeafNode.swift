public import TLSCodec

// struct {
//     HPKEPublicKey encryption_key;
//     SignaturePublicKey signature_key;
//     Credential credential;
//     Capabilities capabilities;
//     LeafNodeSource leaf_node_source;
//     select (LeafNode.leaf_node_source) {
//         case key_package: Lifetime lifetime;
//         case update:      struct{};
//         case commit:      opaque parent_hash<V>;
//     };
//     Extension extensions<V>;
//     opaque signature<V>;
// } LeafNode;

/// Origin of a leaf, with the data specific to that origin (RFC 9420 §7.2).
public enum LeafNodeSource: Hashable, Sendable {
    /// From a key package, with the period in which it may be used.
    case keyPackage(Lifetime)
    /// From an Update proposal.
    case update
    /// From a commit's path, with the parent hash of the node above (RFC 9420 §7.9).
    case commit(parentHash: [UInt8])
}

/// A member's leaf (RFC 9420 §7.2), immutable so that trees can share it; it keeps the bytes that were signed.
public final class LeafNode: Sendable, Hashable, TLSEncodable, TLSDecodable {
    /// HPKE public key to which path secrets are encrypted, serialized.
    public let encryptionKey: [UInt8]
    /// Public key that verifies the member's signatures, serialized.
    public let signatureKey: [UInt8]
    /// Identity that the member claims.
    public let credential: Credential
    /// Capabilities of the member's client.
    public let capabilities: Capabilities
    /// Origin of the leaf.
    public let source: LeafNodeSource
    /// Leaf node extensions.
    public let extensions: [Extension]
    /// Signature over LeafNodeTBS by the leaf's own signature key (RFC 9420 §7.2).
    public let signature: [UInt8]
    /// The encoding as received or as signed.
    let encoded: [UInt8]
    /// Number of bytes of `encoded` before the signature.
    private let unsignedCount: Int

    /// Decodes the fields in wire order; refuses unknown sources. The signature is not verified.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        self.encryptionKey = try reader.readOpaque()
        self.signatureKey = try reader.readOpaque()
        self.credential = try Credential(from: &reader)
        self.capabilities = try Capabilities(from: &reader)
        let sourceOffset = reader.offset
        switch try reader.readUInt8() {
        case 1: self.source = .keyPackage(try Lifetime(from: &reader))
        case 2: self.source = .update
        case 3: self.source = .commit(parentHash: try reader.readOpaque())
        case let other:
            throw TLSCodecError(.invalidValue, offset: sourceOffset, "leaf_node_source \(other) is not 1, 2 or 3")
        }
        self.extensions = try reader.readVector(of: Extension.self)
        self.unsignedCount = reader.offset - start
        self.signature = try reader.readOpaque()
        self.encoded = Array(reader.bytes[start..<reader.offset])
    }

    /// Creates and signs a new leaf; `position` is nil for a key package, otherwise the leaf's position in the group.
    init(
        encryptionKey: [UInt8], credential: Credential, capabilities: Capabilities, source: LeafNodeSource,
        extensions: [Extension], position: Position?, signedBy key: SignaturePrivateKey
    ) throws {
        self.encryptionKey = encryptionKey
        self.signatureKey = key.publicKey
        self.credential = credential
        self.capabilities = capabilities
        self.source = source
        self.extensions = extensions
        var writer = TLSWriter(capacity: 512)
        writer.writeOpaque(encryptionKey)
        writer.writeOpaque(key.publicKey)
        credential.encode(to: &writer)
        capabilities.encode(to: &writer)
        switch source {
        case .keyPackage(let lifetime):
            writer.write(UInt8(1))
            lifetime.encode(to: &writer)
        case .update: writer.write(UInt8(2))
        case .commit(let parentHash):
            writer.write(UInt8(3))
            writer.writeOpaque(parentHash)
        }
        writer.writeVector(extensions)
        self.unsignedCount = writer.bytes.count
        self.signature = try key.sign(
            label: "LeafNodeTBS", Self.toBeSigned(writer.bytes, source: source, position: position))
        writer.writeOpaque(self.signature)
        self.encoded = writer.bytes
    }

    /// Encodes the bytes as received or as signed.
    public func encode(to writer: inout TLSWriter) {
        writer.writeFixed(self.encoded)
    }

    /// Group and position of a leaf, to which the signature of an update or commit leaf is bound (RFC 9420 §7.2).
    struct Position {
        let groupID: GroupID
        let leafIndex: LeafIndex
    }

    /// Returns whether the signature is valid for this position; a key package's leaf is signed without one.
    func hasValidSignature(_ suite: CipherSuite, position: Position?) -> Bool {
        // V7.3-2: The leaf's signature verifies, bound to its position.
        let content = Self.toBeSigned(
            Array(self.encoded[..<self.unsignedCount]), source: self.source, position: position)
        return suite.verify(self.signature, label: "LeafNodeTBS", of: content, publicKey: self.signatureKey)
    }

    private static func toBeSigned(_ unsigned: [UInt8], source: LeafNodeSource, position: Position?) -> [UInt8] {
        guard let position, source.isBoundToPosition else { return unsigned }
        var writer = TLSWriter(capacity: unsigned.count + position.groupID.bytes.count + 8)
        writer.writeFixed(unsigned)
        writer.writeOpaque(position.groupID.bytes)
        writer.write(position.leafIndex.rawValue)
        return writer.bytes
    }

    /// Compares the encoded bytes.
    public static func == (left: LeafNode, right: LeafNode) -> Bool {
        left === right || left.encoded == right.encoded
    }

    /// Hashes the encoded bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.encoded)
    }
}

extension LeafNodeSource {
    fileprivate var isBoundToPosition: Bool {
        if case .keyPackage = self { false } else { true }
    }
}
