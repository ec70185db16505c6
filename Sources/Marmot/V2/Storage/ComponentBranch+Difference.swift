import MLS
import Nostr
import TLSCodec

// struct {
//     uint16 version = 1;
//     uint8 standing;                   0 member, 1 removed, 2 disbanded
//     opaque base[32];                  the point from whose state this one differs
//     opaque mls<V>;
//     struct { opaque routing<V>; } former_routings<V>;   data of component 0x8004, oldest first
//     struct { opaque reference<V>; opaque digest[32]; } proposals<V>;
// } State;

/// Stored form of a retained state: its difference from a neighbour on the same branch, so that a state of a large group
/// takes a few kilobytes, is written once, and shares the tree with its neighbour when it is restored.
extension ComponentBranch {
    /// Returns the stored form; the caller must seal it.
    func difference(from base: ComponentBranch, at point: Bytes32) -> Secret {
        let mls = self.group.mls.difference(from: base.group.mls)
        var further = TLSWriter(capacity: 256)
        self.group.encodeRoutingsAndProposals(to: &further)
        // Capacity for everything, because growing would leave a buffer with secrets behind.
        var writer = TLSWriter(capacity: mls.count + further.bytes.count + 64)
        writer.write(UInt16(1))
        writer.write(UInt8(Self.standings.firstIndex(of: self.standing) ?? 0))
        writer.writeFixed(point.bytes)
        writer.writeSecret(mls)
        writer.writeFixed(further.bytes)
        return writer.takeSecret()
    }

    /// Returns the point from whose state a stored one differs; nil for another form.
    static func base(ofDifference difference: Secret) -> Bytes32? {
        difference.withUnsafeBytes { Bytes32($0.dropFirst(3).prefix(32)) }
    }

    /// Restores a state; `states` are the restored neighbours. Throws `MarmotError.Code.badStoredForm`.
    init(_ difference: Secret, among states: [Bytes32: ComponentBranch]) throws(MarmotError) {
        do {
            let stored = try difference.decode(StoredBranchState.init(from:))
            guard let base = states[stored.base]?.group else {
                throw MarmotError(.badStoredForm, "the neighbour of a retained state is missing")
            }
            let mls = try MLSGroup(stored.mls, from: base.mls)
            let past = base.epoch < mls.epoch ? base.pastOfNext : base.past.filter { $0.epoch < mls.epoch }
            let group = try ComponentGroup(
                mls, stored.further, account: base.account, joinEpoch: base.joinEpoch, past: past)
            self.init(group, standing: stored.standing)
        } catch { throw MarmotError(.badStoredForm, "retained state: \(error)") }
    }
}

/// The fields of a retained state's stored form.
private struct StoredBranchState {
    let standing: BranchStanding
    let base: Bytes32
    let mls: Secret
    let further: StoredRoutingsAndProposals

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.standing = try ComponentBranch.standing(from: &reader)
        self.base = try reader.readID()
        self.mls = try reader.readSecret()
        self.further = try StoredRoutingsAndProposals(from: &reader)
    }
}
