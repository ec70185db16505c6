public import MLS
public import Nostr
import TLSCodec

// struct {
//     uint16 version = 1;
//     uint8 is_active;
//     struct { uint64 epoch; opaque key<V>; } outer_keys<V>;
//     opaque former_nostr_group_ids<V>;     k × 32 bytes
// } header

/// The stored form: a header of Marmot's own beside the MLS records.
///
/// Race snapshots and a pending commit are not in it: after a restart the state is the one that relays confirmed.
extension MarmotGroup {
    /// Hands over what changed since the last call: the header if it did, and the MLS records.
    public mutating func drainChanges() -> (header: Secret?, mls: GroupStorageChanges) {
        let header = self.headerChanged ? self.header : nil
        self.headerChanged = false
        return (header, self.mls.drainChanges())
    }

    private var header: Secret {
        var writer = TLSWriter(capacity: 512)
        writer.write(UInt16(1))
        writer.write(UInt8(self.isActive ? 1 : 0))
        writer.writeVector { writer in
            for (epoch, key) in self.outerKeys.sorted(by: { $0.key < $1.key }) {
                writer.write(epoch)
                key.withUnsafeBytes { writer.writeOpaque($0) }
            }
        }
        writer.writeVector { writer in
            for id in self.formerNostrGroupIDs { writer.writeFixed(id.bytes) }
        }
        return Secret(writer.bytes)
    }

    /// Reads a stored group back.
    public init(
        header: Secret, records: [GroupRecord: Secret], account: PublicKey, profile: MarmotProfile = .mip
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
            self.outerKeys = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) in
                var keys: [UInt64: Secret] = [:]
                while !inner.isAtEnd {
                    let offset = inner.offset
                    let epoch = try inner.readUInt64()
                    guard epoch <= mls.epoch else {
                        throw TLSCodecError(
                            .invalidValue, offset: offset, "an outer key is of epoch \(epoch), still to come")
                    }
                    let key = Secret(try inner.readOpaque())
                    guard key.count == 32 else {
                        throw TLSCodecError(
                            .invalidValue, offset: offset, "an outer key has \(key.count) bytes, not 32")
                    }
                    keys[epoch] = key
                }
                return keys
            }.merging(current) { _, derived in derived }
            self.formerNostrGroupIDs = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) in
                var ids: [Bytes32] = []
                while !inner.isAtEnd { if let id = Bytes32(try inner.readFixed(32)) { ids.append(id) } }
                return ids
            }
            try reader.finish()
        } catch { throw MarmotError(.badStoredForm, "group header: \(error)") }
        self.headerChanged = false
    }
}
