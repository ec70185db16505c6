public import MLS
public import Nostr
import TLSCodec

// struct {
//     uint16 version = 1;
//     uint8 is_active;
//     struct { uint64 epoch; opaque key<V>; } outer_keys<V>;
//     opaque former_nostr_group_ids<V>;     k × 32 bytes
// } header

/// Stored form: a Marmot header and the MLS records, plus a few ``GroupPart``s.
extension MarmotGroup {
    /// Returns the changes since the last call.
    public mutating func drainChanges() -> MarmotGroupChanges {
        let header = self.headerChanged ? self.header : nil
        self.headerChanged = false
        var parts: [GroupPart: StoredGroupPart?] = [:]
        for part in self.changedParts { parts[part] = .some(self.content(of: part)) }
        self.changedParts = []
        return MarmotGroupChanges(header: header, mls: self.mls.drainChanges(), parts: parts)
    }

    /// The complete stored form without parts.
    public var stored: (header: Secret, records: [GroupRecord: Secret]) { (self.header, self.mls.records) }

    /// Marks everything as changed for the next ``drainChanges()``, after this value replaced another.
    public mutating func markAllChanged() {
        self.mls.markAllChanged()
        self.headerChanged = true
        self.changedParts.formUnion(self.parts)
    }

    /// Whether a part must be stored, even if nothing else of the group changed.
    public var hasChangedParts: Bool { !self.changedParts.isEmpty }

    /// All parts currently stored with the group.
    public var parts: Set<GroupPart> {
        var parts = Set(self.snapshots.map { GroupPart.snapshot(epoch: $0.epoch) })
        parts.formUnion(self.shelved.map { .ownCommit($0.event.id) })
        if let pending = self.pending { parts.insert(.ownCommit(pending.event.id)) }
        return parts
    }

    private func content(of part: GroupPart) -> StoredGroupPart? {
        switch part {
        case .snapshot(let epoch): return self.snapshots.first { $0.epoch == epoch }.map { StoredGroupPart($0) }
        case .ownCommit(let id):
            if let pending = self.pending, pending.event.id == id {
                return StoredGroupPart(self.stored(pending), isPending: true)
            }
            return self.shelved.first { $0.event.id == id }.map { StoredGroupPart($0, isPending: false) }
        }
    }

    /// Restores the stored parts, leaving out a pending commit that no longer applies to the group.
    private mutating func restore(_ parts: [GroupPart: StoredGroupPart]) throws(TLSCodecError) {
        var pending: [ShelvedCommit] = []
        for (part, content) in parts {
            switch part {
            case .snapshot: self.snapshots.append(try content.snapshot())
            case .ownCommit:
                let (commit, isPending) = try content.ownCommit()
                if isPending { pending.append(commit) } else { self.shelved.append(commit) }
            }
        }
        self.snapshots.sort { $0.epoch < $1.epoch }
        for snapshot in self.snapshots { self.sendingClock.follow(snapshot.order.createdAt) }
        self.shelved.sort { ($0.epoch, $0.event.createdAt, $0.event.id) < ($1.epoch, $1.event.createdAt, $1.event.id) }
        for commit in pending where commit.authenticator == self.mls.epochAuthenticator {
            do { self.pending = try self.restore(commit) } catch {
                throw TLSCodecError(.invalidValue, offset: 0, "the pending commit: \(error.message)")
            }
        }
    }

    private var header: Secret {
        var writer = TLSWriter(capacity: 512)
        writer.write(UInt16(1))
        writer.write(UInt8(self.isActive ? 1 : 0))
        OuterKeys.encode(self.outerKeys, to: &writer)
        writer.writeVector { writer in
            for id in self.formerNostrGroupIDs { writer.writeFixed(id.bytes) }
        }
        return Secret(writer.bytes)
    }

    /// Restores a stored group.
    public init(
        header: Secret, records: [GroupRecord: Secret], parts: [GroupPart: StoredGroupPart] = [:],
        account: PublicKey, profile: MarmotProfile = .mip
    ) throws(MarmotError) {
        let mls: MLSGroup
        do {
            mls = try MLSGroup(records: records)
            guard try mls.ownLeaf.identity() == account else {
                throw MarmotError(.badStoredForm, "the stored group belongs to another account")
            }
            try self.init(mls, account: account, profile: profile)
        } catch { throw MarmotError(.badStoredForm, "\(error)") }
        do {
            var reader = TLSReader(header.copyBytes())
            let version = try reader.readUInt16()
            guard version == 1 else {
                throw TLSCodecError(.invalidValue, offset: 0, "the header has version \(version), this library reads 1")
            }
            let isActive = try reader.readUInt8()
            guard isActive <= 1 else {
                throw TLSCodecError(.invalidValue, offset: 2, "is_active is \(isActive), not 0 or 1")
            }
            self.isActive = isActive == 1
            let current = self.outerKeys
            self.outerKeys = try OuterKeys.read(&reader, upTo: mls.epoch).merging(current) { _, derived in derived }
            self.formerNostrGroupIDs = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) in
                var ids: [Bytes32] = []
                while !inner.isAtEnd { if let id = Bytes32(try inner.readFixed(32)) { ids.append(id) } }
                return ids
            }
            try reader.finish()
            try self.restore(parts)
        } catch { throw MarmotError(.badStoredForm, "group header: \(error)") }
        self.headerChanged = false
        self.changedParts = []
    }
}
