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
    case member(LeafIndex)
    case external(UInt32)
    case newMemberProposal
    case newMemberCommit

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
