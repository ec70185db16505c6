public import TLSCodec

// struct {
//     SenderType sender_type;
//     select (Sender.sender_type) {
//         case member:              uint32 leaf_index;
//         case external:            uint32 sender_index;
//         case new_member_commit:
//         case new_member_proposal: struct{};
//     };
// } Sender;

/// Sender of a message (RFC 9420 §6).
public enum Sender: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// The member at this leaf.
    case member(LeafIndex)
    /// A sender outside the group, by its index in the `external_senders` extension (RFC 9420 §12.1.8.1).
    case external(UInt32)
    /// A client outside the group that proposes to add itself (RFC 9420 §12.1.8).
    case newMemberProposal
    /// A client outside the group that joins by an external commit (RFC 9420 §12.4.3.2).
    case newMemberCommit

    /// Decodes a sender; refuses types other than 1 to 4.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        switch try reader.readUInt8() {
        case 1: self = .member(try LeafIndex(from: &reader))
        case 2: self = .external(try reader.readUInt32())
        case 3: self = .newMemberProposal
        case 4: self = .newMemberCommit
        case let other: throw TLSCodecError(.invalidValue, offset: start, "sender type \(other) is not 1 to 4")
        }
    }

    /// Encodes the type and the index, if it has one.
    public func encode(to writer: inout TLSWriter) {
        switch self {
        case .member(let leaf):
            writer.write(UInt8(1))
            leaf.encode(to: &writer)
        case .external(let index):
            writer.write(UInt8(2))
            writer.write(index)
        case .newMemberProposal: writer.write(UInt8(3))
        case .newMemberCommit: writer.write(UInt8(4))
        }
    }
}
