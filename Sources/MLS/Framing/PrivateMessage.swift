public import TLSCodec

// struct {
//     opaque group_id<V>;
//     uint64 epoch;
//     ContentType content_type;
//     opaque authenticated_data<V>;
//     opaque encrypted_sender_data<V>;
//     opaque ciphertext<V>;
// } PrivateMessage;

/// Encrypted message (RFC 9420 §6.3).
public struct PrivateMessage: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Id of the group that the message is for.
    public let groupID: GroupID
    /// Epoch in which the message was sent.
    public let epoch: Epoch
    /// Type of the encrypted content.
    public let contentType: ContentType
    /// Application data that is authenticated but not encrypted.
    public let authenticatedData: [UInt8]
    /// Encrypted leaf index, generation and reuse guard of the sender (RFC 9420 §6.3.2).
    public let encryptedSenderData: [UInt8]
    /// Encrypted content, signature and padding, with the AEAD tag (RFC 9420 §6.3.1).
    public let ciphertext: [UInt8]

    init(
        groupID: GroupID, epoch: Epoch, contentType: ContentType, authenticatedData: [UInt8],
        encryptedSenderData: [UInt8], ciphertext: [UInt8]
    ) {
        self.groupID = groupID
        self.epoch = epoch
        self.contentType = contentType
        self.authenticatedData = authenticatedData
        self.encryptedSenderData = encryptedSenderData
        self.ciphertext = ciphertext
    }

    /// Decodes the fields in wire order; decrypts nothing.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.groupID = GroupID(try reader.readOpaque())
        self.epoch = try Epoch(from: &reader)
        self.contentType = try ContentType.read(from: &reader)
        self.authenticatedData = try reader.readOpaque()
        self.encryptedSenderData = try reader.readOpaque()
        self.ciphertext = try reader.readOpaque()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeOpaque(self.groupID.bytes)
        self.epoch.encode(to: &writer)
        writer.write(self.contentType.rawValue)
        writer.writeOpaque(self.authenticatedData)
        writer.writeOpaque(self.encryptedSenderData)
        writer.writeOpaque(self.ciphertext)
    }

    // struct {
    //     opaque group_id<V>;
    //     uint64 epoch;
    //     ContentType content_type;
    //     opaque authenticated_data<V>;
    // } PrivateContentAAD;

    static func contentAAD(
        groupID: GroupID, epoch: Epoch, contentType: ContentType, authenticatedData: [UInt8]
    ) -> [UInt8] {
        var writer = TLSWriter(capacity: groupID.bytes.count + authenticatedData.count + 16)
        writer.writeOpaque(groupID.bytes)
        epoch.encode(to: &writer)
        writer.write(contentType.rawValue)
        writer.writeOpaque(authenticatedData)
        return writer.bytes
    }
}
