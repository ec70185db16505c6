public import TLSCodec

// struct {
//     opaque group_id<V>;
//     uint64 epoch;
//     Sender sender;
//     opaque authenticated_data<V>;
//     ContentType content_type;
//     select (FramedContent.content_type) {
//         case application: opaque application_data<V>;
//         case proposal:    Proposal proposal;
//         case commit:      Commit commit;
//     };
// } FramedContent;

/// Content of a message before framing (RFC 9420 §6).
public struct FramedContent: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Content specific to the content type.
    public enum Body: Hashable, Sendable {
        /// Application data as opaque bytes.
        case application([UInt8])
        /// A proposal to change the group.
        case proposal(Proposal)
        /// A commit that ends the epoch.
        case commit(Commit)

        var contentType: ContentType {
            switch self {
            case .application: .application
            case .proposal: .proposal
            case .commit: .commit
            }
        }

        init(_ type: ContentType, from reader: inout TLSReader) throws(TLSCodecError) {
            switch type {
            case .application: self = .application(try reader.readOpaque())
            case .proposal: self = .proposal(try Proposal(from: &reader))
            case .commit: self = .commit(try Commit(from: &reader))
            }
        }

        func encode(to writer: inout TLSWriter) {
            switch self {
            case .application(let data): writer.writeOpaque(data)
            case .proposal(let proposal): proposal.encode(to: &writer)
            case .commit(let commit): commit.encode(to: &writer)
            }
        }
    }

    /// Id of the group that the message is for.
    public let groupID: GroupID
    /// Epoch in which the message was sent.
    public let epoch: Epoch
    /// The sender as claimed; only the signature proves it.
    public let sender: Sender
    /// Application data that is signed but not encrypted.
    public let authenticatedData: [UInt8]
    /// The application data, proposal or commit.
    public let body: Body
    /// The encoding as received or as created: the bytes that are signed and hashed.
    let encoded: [UInt8]
    /// Offset of the body in `encoded`.
    let bodyOffset: Int

    /// Content type of ``body``.
    public var contentType: ContentType { self.body.contentType }

    init(groupID: GroupID, epoch: Epoch, sender: Sender, authenticatedData: [UInt8], body: Body) {
        self.groupID = groupID
        self.epoch = epoch
        self.sender = sender
        self.authenticatedData = authenticatedData
        self.body = body
        var writer = TLSWriter(capacity: 256)
        Self.encodeHeader(groupID, epoch, sender, authenticatedData, body.contentType, to: &writer)
        self.bodyOffset = writer.bytes.count
        body.encode(to: &writer)
        self.encoded = writer.bytes
    }

    /// Creates decrypted content, keeping the body's bytes as received.
    init(
        groupID: GroupID, epoch: Epoch, sender: Sender, authenticatedData: [UInt8], body: Body,
        bodyBytes: ArraySlice<UInt8>
    ) {
        self.groupID = groupID
        self.epoch = epoch
        self.sender = sender
        self.authenticatedData = authenticatedData
        self.body = body
        var writer = TLSWriter(capacity: bodyBytes.count + authenticatedData.count + groupID.bytes.count + 32)
        Self.encodeHeader(groupID, epoch, sender, authenticatedData, body.contentType, to: &writer)
        self.bodyOffset = writer.bytes.count
        bodyBytes.withUnsafeBytes { writer.writeFixed($0) }
        self.encoded = writer.bytes
    }

    private static func encodeHeader(
        _ groupID: GroupID, _ epoch: Epoch, _ sender: Sender, _ authenticatedData: [UInt8], _ type: ContentType,
        to writer: inout TLSWriter
    ) {
        writer.writeOpaque(groupID.bytes)
        epoch.encode(to: &writer)
        sender.encode(to: &writer)
        writer.writeOpaque(authenticatedData)
        writer.write(type.rawValue)
    }

    /// Decodes the fields in wire order; keeps the bytes as received for the signature and the transcript hash.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        self.groupID = GroupID(try reader.readOpaque())
        self.epoch = try Epoch(from: &reader)
        self.sender = try Sender(from: &reader)
        self.authenticatedData = try reader.readOpaque()
        let type = try ContentType.read(from: &reader)
        self.bodyOffset = reader.offset - start
        self.body = try Body(type, from: &reader)
        self.encoded = Array(reader.bytes[start..<reader.offset])
    }

    /// Encodes the bytes as received or as created.
    public func encode(to writer: inout TLSWriter) {
        writer.writeFixed(self.encoded)
    }
}

extension ContentType {
    static func read(from reader: inout TLSReader) throws(TLSCodecError) -> ContentType {
        let start = reader.offset
        let number = try reader.readUInt8()
        guard let type = ContentType(rawValue: number) else {
            throw TLSCodecError(.invalidValue, offset: start, "content type \(number) is not 1 to 3")
        }
        return type
    }
}
