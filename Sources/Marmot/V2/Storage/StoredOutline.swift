import MLS
import Nostr
import TLSCodec

/// The small fields of a group's branch selection, which are rewritten together.
struct StoredOutline: Sendable {
    /// Retained state, without its content.
    struct Node: Sendable {
        enum Form: UInt8, Sendable {
            /// The first known state.
            case first = 0
            /// Stored as the tip, or as a part.
            case stored = 1
            /// Computed again from the parent and the admitted commit.
            case derivable = 2
        }

        let point: BranchPoint
        let form: Form
        /// The point before; of the first state its own.
        let parent: Bytes32
        let witnesses: Set<PublicKey>
        let wasSelected: Bool
    }

    /// The retained states, parents before the states after them.
    var nodes: [Node]
    /// The selected points, the oldest first; the last is the tip.
    var history: [Bytes32]
    var pending: Bytes32?
    /// Own commits that no relay is known to have, the oldest first.
    var abandoned: [Bytes32]
    var phase: StoredPhase
    var joined: Epoch
    var hasAdminChange: Bool
    var failure: PassFailure?
    var halt: ConvergenceHalt?
}

// struct {
//     uint16 version = 1;
//     struct { uint64 epoch; opaque id[32]; uint8 form; opaque parent[32]; struct { opaque account[32]; } witnesses<V>;
//              uint8 was_selected; } nodes<V>;
//     struct { opaque id[32]; } history<V>;
//     struct { opaque id[32]; } pending<V>;         none or one
//     struct { opaque id[32]; } abandoned<V>;
//     uint8 phase;                                  0 idle, 1 collecting, 2 an admin's turn
//     uint64 remaining[2];                          milliseconds: quiet time and pass; turn and 0
//     uint64 joined;
//     uint8 has_admin_change;
//     Failure failure;                              0 none, 1 budget, 2 state of an epoch, 3 checkpoint of a commit
//     uint8 halt;                                   0 none, 1 disbanded, 2 unrecoverable
//     Failure reason;
// } Outline;

extension StoredOutline {
    var encoded: Secret {
        var writer = TLSWriter(capacity: 256 + 128 * self.nodes.count)
        writer.write(UInt16(1))
        writer.writeVector { writer in
            for node in self.nodes {
                node.point.epoch.encode(to: &writer)
                writer.writeFixed(node.point.id.bytes)
                writer.write(node.form.rawValue)
                writer.writeFixed(node.parent.bytes)
                writer.writeVector { writer in
                    for account in node.witnesses.sorted() { writer.writeFixed(account.bytes) }
                }
                writer.writeFlag(node.wasSelected)
            }
        }
        for ids in [self.history, self.pending.map { [$0] } ?? [], self.abandoned] {
            writer.writeVector { writer in for id in ids { writer.writeFixed(id.bytes) } }
        }
        self.encodePhase(to: &writer)
        self.joined.encode(to: &writer)
        writer.writeFlag(self.hasAdminChange)
        Self.encode(self.failure, to: &writer)
        switch self.halt {
        case nil: writer.write(UInt8(0))
        case .disbanded?: writer.write(UInt8(1))
        case .unrecoverable?: writer.write(UInt8(2))
        }
        if case .unrecoverable(let failure)? = self.halt {
            Self.encode(failure, to: &writer)
        } else {
            Self.encode(nil, to: &writer)
        }
        return Secret(writer.takeBytes())
    }

    private func encodePhase(to writer: inout TLSWriter) {
        let (number, first, second): (UInt8, Int64, Int64) =
            switch self.phase {
            case .idle: (0, 0, 0)
            case .collecting(let quiet, let pass): (1, quiet, pass)
            case .turn(let remaining): (2, remaining, 0)
            }
        writer.write(number)
        writer.write(UInt64(clamping: first))
        writer.write(UInt64(clamping: second))
    }

    private static func encode(_ failure: PassFailure?, to writer: inout TLSWriter) {
        switch failure {
        case nil: writer.write(UInt8(0))
        case .budgetExceeded?: writer.write(UInt8(1))
        case .missingState(let epoch)?:
            writer.write(UInt8(2))
            epoch.encode(to: &writer)
        case .missingCheckpoint(let id)?:
            writer.write(UInt8(3))
            writer.writeFixed(id.bytes)
        }
    }

    init(_ stored: Secret) throws(TLSCodecError) {
        var reader = TLSReader(stored.copyBytes())
        try reader.readVersion(1)
        self.nodes = try reader.readElements { (reader: inout TLSReader) throws(TLSCodecError) in
            try Node(from: &reader)
        }
        self.history = try reader.readElements { (reader: inout TLSReader) throws(TLSCodecError) in
            try reader.readID()
        }
        let start = reader.offset
        let pending = try reader.readElements { (reader: inout TLSReader) throws(TLSCodecError) in
            try reader.readID()
        }
        guard pending.count <= 1 else {
            throw TLSCodecError(
                .invalidValue, offset: start, "expected at most one pending commit, found \(pending.count)")
        }
        self.pending = pending.first
        self.abandoned = try reader.readElements { (reader: inout TLSReader) throws(TLSCodecError) in
            try reader.readID()
        }
        self.phase = try Self.phase(&reader)
        self.joined = try Epoch(from: &reader)
        self.hasAdminChange = try reader.readFlag()
        self.failure = try Self.failure(&reader)
        self.halt = try Self.halt(&reader)
        try reader.finish()
    }

    private static func halt(_ reader: inout TLSReader) throws(TLSCodecError) -> ConvergenceHalt? {
        let start = reader.offset
        let number = try reader.readUInt8()
        switch (number, try self.failure(&reader)) {
        case (0, nil): return nil
        case (1, nil): return .disbanded
        case (2, let reason?): return .unrecoverable(reason)
        default: throw TLSCodecError(.invalidValue, offset: start, "unknown end \(number) of a group")
        }
    }

    private static func phase(_ reader: inout TLSReader) throws(TLSCodecError) -> StoredPhase {
        let start = reader.offset
        let number = try reader.readUInt8()
        let first = Int64(clamping: try reader.readUInt64())
        let second = Int64(clamping: try reader.readUInt64())
        switch number {
        case 0: return .idle
        case 1: return .collecting(quietRemaining: first, passRemaining: second)
        case 2: return .turn(remaining: first)
        default: throw TLSCodecError(.invalidValue, offset: start, "unknown phase \(number) of a pass")
        }
    }

    private static func failure(_ reader: inout TLSReader) throws(TLSCodecError) -> PassFailure? {
        let start = reader.offset
        switch try reader.readUInt8() {
        case 0: return nil
        case 1: return .budgetExceeded
        case 2: return .missingState(try Epoch(from: &reader))
        case 3: return .missingCheckpoint(try reader.readID())
        case let other: throw TLSCodecError(.invalidValue, offset: start, "unknown failure \(other) of a pass")
        }
    }
}

extension StoredOutline.Node {
    fileprivate init(from reader: inout TLSReader) throws(TLSCodecError) {
        let epoch = try Epoch(from: &reader)
        self.point = BranchPoint(epoch: epoch, id: try reader.readID())
        let start = reader.offset
        guard let form = Form(rawValue: try reader.readUInt8()) else {
            throw TLSCodecError(.invalidValue, offset: start, "unknown form of a retained state")
        }
        self.form = form
        self.parent = try reader.readID()
        self.witnesses = Set(
            try reader.readElements { (reader: inout TLSReader) throws(TLSCodecError) in try reader.readAccount() })
        self.wasSelected = try reader.readFlag()
    }
}
