public import MLS
public import Nostr
import TLSCodec

// struct {
//     uint64 epoch;
//     opaque outer_key<V>;              32 bytes
//     opaque media_secret<V>;           32 bytes
//     opaque admin_policy<V>;           data of component 0x8003
//     uint64 retention_seconds;
// } PastEpoch;
//
// struct {
//     uint16 version = 1;
//     uint64 join_epoch;
//     PastEpoch past<V>;                newest first
//     struct { opaque routing<V>; } former_routings<V>;   data of component 0x8004, oldest first
//     struct { opaque reference<V>; opaque digest[32]; } proposals<V>;
// } header

/// Changes that bring a store up to date with a ``ComponentGroup``.
public struct ComponentGroupChanges: Sendable {
    /// The group's own header, if it changed; the caller must seal it.
    public let header: Secret?
    /// Changes to the MLS group's records.
    public let mls: GroupStorageChanges
}

/// Stored form: a header and the MLS records.
///
/// The value in use is stored by its changes, or whole as ``part``. Values kept for the choice between branches are stored
/// by their differences from each other (``ComponentBranch/difference(from:at:)``).
extension ComponentGroup {
    /// Returns the changes since the last call.
    public mutating func drainChanges() -> ComponentGroupChanges {
        let header = self.headerChanged ? self.header : nil
        self.headerChanged = false
        return ComponentGroupChanges(header: header, mls: self.mls.drainChanges())
    }

    /// Returns the changes of the MLS records from another value of the group, nil if none is stored, and counts this one
    /// as stored with its header.
    mutating func drainAll(from stored: StoredGroupBaseline?) -> GroupStorageChanges {
        self.headerChanged = false
        if let stored { return self.mls.drainChanges(from: stored) }
        self.mls.markAllChanged()
        return self.mls.drainChanges()
    }

    /// Marks everything as changed for the next ``drainChanges()``, after this value replaced another.
    public mutating func markAllChanged() {
        self.mls.markAllChanged()
        self.headerChanged = true
    }

    /// The complete stored form; the caller must seal it.
    public var part: StoredGroupPart { StoredGroupPart(header: self.header, records: self.mls.records) }

    /// The stored form without the MLS records.
    var header: Secret {
        var writer = TLSWriter(capacity: 1024)
        writer.write(UInt16(1))
        self.joinEpoch.encode(to: &writer)
        writer.writeVector { writer in
            for past in self.past {
                past.epoch.encode(to: &writer)
                writer.writeSecret(past.outerKey)
                writer.writeSecret(past.mediaSecret)
                writer.writeOpaque(past.admins.encoded)
                writer.write(past.retentionSeconds)
            }
        }
        self.encodeRoutingsAndProposals(to: &writer)
        return writer.takeSecret()
    }

    func encodeRoutingsAndProposals(to writer: inout TLSWriter) {
        writer.writeVector { writer in
            for routing in self.formerRoutings { writer.writeOpaque(routing.encoded) }
        }
        writer.writeVector { writer in
            for (reference, digest) in self.proposalDigests.sorted(by: { $0.value < $1.value }) {
                writer.writeOpaque(reference)
                writer.writeFixed(digest.bytes)
            }
        }
    }

    /// Restores a stored value.
    ///
    /// - Throws: `MarmotError.Code.badStoredForm`.
    public init(_ stored: StoredGroupPart, account: PublicKey) throws(MarmotError) {
        do {
            let mls = try MLSGroup(records: stored.records)
            let header = try StoredHeader(stored.header, before: mls.epoch)
            try self.init(mls, header.further, account: account, joinEpoch: header.joinEpoch, past: header.past)
        } catch { throw MarmotError(.badStoredForm, "\(error)") }
    }

    /// Assembles a value from decoded parts, and checks it.
    init(
        _ stored: MLSGroup, _ further: StoredRoutingsAndProposals, account: PublicKey, joinEpoch: Epoch,
        past: [PastEpoch]
    ) throws {
        var mls = stored
        guard try mls.ownLeaf.identity() == account else {
            throw MarmotError(.badStoredForm, "the stored group belongs to another account")
        }
        // The rules of the group are this version's, whichever version stored it.
        let configuration = MarmotProfile.components.groupConfiguration
        if mls.configuration != configuration { mls.configuration = configuration }
        self.init(mls, try ComponentState(mls.extensions), account: account, joinEpoch: joinEpoch)
        self.past = past
        self.formerRoutings = further.formerRoutings
        let references = Set(mls.pendingProposals.map(\.reference))
        self.proposalDigests = further.proposalDigests.filter { references.contains($0.key) }
        self.headerChanged = false
    }
}

/// The fields of a header, in the order in which they are written.
private struct StoredHeader {
    let joinEpoch: Epoch
    let past: [ComponentGroup.PastEpoch]
    let further: StoredRoutingsAndProposals

    init(_ header: Secret, before current: Epoch) throws(TLSCodecError) {
        self = try header.decode { (reader: inout TLSReader) throws(TLSCodecError) -> StoredHeader in
            try StoredHeader(from: &reader, before: current)
        }
    }

    private init(from reader: inout TLSReader, before current: Epoch) throws(TLSCodecError) {
        let version = try reader.readUInt16()
        guard version == 1 else {
            throw TLSCodecError(.invalidValue, offset: 0, "the header has version \(version), this library reads 1")
        }
        self.joinEpoch = try Epoch(from: &reader)
        self.past = try reader.readVector {
            (inner: inout TLSReader) throws(TLSCodecError) -> [ComponentGroup.PastEpoch] in
            var past: [ComponentGroup.PastEpoch] = []
            var limit = current
            while !inner.isAtEnd {
                let epoch = try Self.pastEpoch(&inner, before: limit)
                past.append(epoch)
                limit = epoch.epoch
            }
            return past
        }
        self.further = try StoredRoutingsAndProposals(from: &reader)
        guard self.past.count <= MarmotProfile.components.pastEpochs else {
            throw TLSCodecError(.invalidValue, offset: 0, "the header has too many past epochs")
        }
    }

    private static func pastEpoch(
        _ reader: inout TLSReader, before limit: Epoch
    ) throws(TLSCodecError) -> ComponentGroup.PastEpoch {
        let start = reader.offset
        let epoch = try Epoch(from: &reader)
        let outerKey = try reader.readSecret()
        let mediaSecret = try reader.readSecret()
        let policy = try reader.readOpaque()
        let retention = try reader.readUInt64()
        guard epoch < limit, outerKey.count == 32, mediaSecret.count == 32,
            let admins = try? AdminPolicy(data: policy)
        else { throw TLSCodecError(.invalidValue, offset: start, "invalid past epoch \(epoch)") }
        return ComponentGroup.PastEpoch(
            epoch: epoch, outerKey: outerKey, mediaSecret: mediaSecret, admins: admins, retentionSeconds: retention)
    }
}

/// Former public ids and relays, and the messages of pending proposals, in the order in which they are written.
struct StoredRoutingsAndProposals {
    let formerRoutings: [NostrRouting]
    let proposalDigests: [[UInt8]: Bytes32]

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.formerRoutings = try reader.readElements {
            (inner: inout TLSReader) throws(TLSCodecError) -> NostrRouting in
            let start = inner.offset
            let data = try inner.readOpaque()
            guard let routing = try? NostrRouting(data: data) else {
                throw TLSCodecError(.invalidValue, offset: start, "invalid former routing")
            }
            return routing
        }
        self.proposalDigests = try reader.readVector {
            (inner: inout TLSReader) throws(TLSCodecError) -> [[UInt8]: Bytes32] in
            var digests: [[UInt8]: Bytes32] = [:]
            while !inner.isAtEnd {
                let reference = try inner.readOpaque()
                digests[reference] = Bytes32(try inner.readFixed(Bytes32.count))
            }
            return digests
        }
        guard self.formerRoutings.count <= ComponentGroup.maximumFormerRoutings else {
            throw TLSCodecError(.invalidValue, offset: 0, "the header has too many former routings")
        }
    }
}
