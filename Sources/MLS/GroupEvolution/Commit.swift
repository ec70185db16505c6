public import TLSCodec

// struct {
//     ProposalOrRefType type;
//     select (ProposalOrRef.type) {
//         case proposal:  Proposal proposal;
//         case reference: ProposalRef reference;
//     };
// } ProposalOrRef;

/// A proposal inside a commit, or the hash of one sent earlier (RFC 9420 §12.4).
public enum ProposalOrRef: Hashable, Sendable, TLSEncodable, TLSDecodable {
    case proposal(Proposal)
    case reference([UInt8])

    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        switch try reader.readUInt8() {
        case 1: self = .proposal(try Proposal(from: &reader))
        case 2: self = .reference(try reader.readOpaque())
        case let other: throw TLSCodecError(.invalidValue, offset: start, "ProposalOrRef type \(other) is not 1 or 2")
        }
    }

    public func encode(to writer: inout TLSWriter) {
        switch self {
        case .proposal(let proposal):
            writer.write(UInt8(1))
            proposal.encode(to: &writer)
        case .reference(let reference):
            writer.write(UInt8(2))
            writer.writeOpaque(reference)
        }
    }
}

// struct {
//     ProposalOrRef proposals<V>;
//     optional<UpdatePath> path;
// } Commit;

/// Transition from one epoch to the next (RFC 9420 §12.4).
public struct Commit: Hashable, Sendable, TLSEncodable, TLSDecodable {
    public var proposals: [ProposalOrRef]
    public var path: UpdatePath?

    init(proposals: [ProposalOrRef], path: UpdatePath?) {
        self.proposals = proposals
        self.path = path
    }

    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.proposals = try reader.readVector(of: ProposalOrRef.self)
        self.path = try reader.readOptional(UpdatePath.self)
    }

    public func encode(to writer: inout TLSWriter) {
        writer.writeVector(self.proposals)
        writer.writeOptional(self.path)
    }
}
