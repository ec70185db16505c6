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
    /// A proposal by the committer, sent inside the commit.
    case proposal(Proposal)
    /// ProposalRef (RFC 9420 §5.2) of a proposal sent earlier in the epoch.
    case reference([UInt8])

    /// Decodes a proposal or reference; refuses types other than 1 and 2.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        switch try reader.readUInt8() {
        case 1: self = .proposal(try Proposal(from: &reader))
        case 2: self = .reference(try reader.readOpaque())
        case let other: throw TLSCodecError(.invalidValue, offset: start, "ProposalOrRef type \(other) is not 1 or 2")
        }
    }

    /// Encodes the type and the proposal or reference.
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
    /// Proposals to apply, in the committer's order.
    public var proposals: [ProposalOrRef]
    /// Fresh keys of the committer; nil for a commit without a path.
    public var path: UpdatePath?

    init(proposals: [ProposalOrRef], path: UpdatePath?) {
        self.proposals = proposals
        self.path = path
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.proposals = try reader.readVector(of: ProposalOrRef.self)
        self.path = try reader.readOptional(UpdatePath.self)
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeVector(self.proposals)
        writer.writeOptional(self.path)
    }
}
