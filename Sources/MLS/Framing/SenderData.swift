import TLSCodec

// struct {
//     uint32 leaf_index;
//     uint32 generation;
//     opaque reuse_guard[4];
// } SenderData;

/// Sender of a private message and the generation of its key (RFC 9420 §6.3.2).
struct SenderData: Hashable, Sendable, TLSEncodable, TLSDecodable {
    var leafIndex: LeafIndex
    var generation: UInt32
    var reuseGuard: [UInt8]

    init(leafIndex: LeafIndex, generation: UInt32, reuseGuard: [UInt8]) {
        self.leafIndex = leafIndex
        self.generation = generation
        self.reuseGuard = reuseGuard
    }

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.leafIndex = try LeafIndex(from: &reader)
        self.generation = try reader.readUInt32()
        self.reuseGuard = try reader.readFixed(4)
    }

    func encode(to writer: inout TLSWriter) {
        self.leafIndex.encode(to: &writer)
        writer.write(self.generation)
        writer.writeFixed(self.reuseGuard)
    }

    // struct {
    //     opaque group_id<V>;
    //     uint64 epoch;
    //     ContentType content_type;
    // } SenderDataAAD;

    private static func additionalData(groupID: GroupID, epoch: Epoch, contentType: ContentType) -> [UInt8] {
        var writer = TLSWriter(capacity: groupID.bytes.count + 16)
        writer.writeOpaque(groupID.bytes)
        epoch.encode(to: &writer)
        writer.write(contentType.rawValue)
        return writer.bytes
    }

    /// Derives key and nonce from a sample of the content's ciphertext (RFC 9420 §6.3.2).
    static func key(_ suite: CipherSuite, senderDataSecret: Secret, ciphertext: [UInt8]) -> MessageKey {
        let sample = Array(ciphertext.prefix(suite.hashLength))
        return MessageKey(
            key: suite.expandWithLabel(senderDataSecret, "key", context: sample, length: suite.aead.keyLength),
            nonce: suite.expandWithLabel(senderDataSecret, "nonce", context: sample, length: suite.aead.nonceLength))
    }

    func sealed(
        _ suite: CipherSuite, senderDataSecret: Secret, ciphertext: [UInt8], groupID: GroupID, epoch: Epoch,
        contentType: ContentType
    ) throws -> [UInt8] {
        let key = Self.key(suite, senderDataSecret: senderDataSecret, ciphertext: ciphertext)
        return try suite.aead.seal(
            self.tlsEncoded(), key: key.key, nonce: key.nonce.copyBytes(),
            additionalData: Self.additionalData(groupID: groupID, epoch: epoch, contentType: contentType))
    }

    /// Decrypts the sender data of a message.
    init(_ suite: CipherSuite, of message: PrivateMessage, senderDataSecret: Secret) throws(MLSError) {
        let key = Self.key(suite, senderDataSecret: senderDataSecret, ciphertext: message.ciphertext)
        let plaintext = try suite.aead.open(
            message.encryptedSenderData, key: key.key, nonce: key.nonce.copyBytes(),
            additionalData: Self.additionalData(
                groupID: message.groupID, epoch: message.epoch, contentType: message.contentType))
        do { try self.init(tlsEncoded: plaintext) } catch { throw MLSError(decoding: "SenderData", error) }
    }
}
