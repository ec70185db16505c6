import MLS
import Nostr
import TLSCodec

// struct {
//     uint16 version = 1;
//     uint64 epoch;
//     uint64 created_at;                     two's complement
//     opaque event_id[32];
//     uint8 is_own;
//     opaque digest<V>;
//     opaque outcome<V>;                     empty: the commit removed this member
//     OuterKey outer_keys<V>;
//     Difference undo;
// } snapshot header
//
// struct {
//     uint16 version = 1;
//     uint8 is_pending;
//     uint64 epoch;
//     opaque epoch_authenticator<V>;
//     opaque digest<V>;
//     opaque event_json<V>;
//     struct { opaque recipient[32]; opaque rumor_json<V>; } welcomes<V>;
//     Difference changes;
// } own commit header
//
// struct { uint8 replaces_all; opaque deleted_record_names<V><V>; } Difference; its contents are the part's records

extension StoredGroupPart {
    private static let version: UInt16 = 1

    init(_ snapshot: RaceSnapshot) {
        var writer = TLSWriter(capacity: 512)
        writer.write(Self.version)
        snapshot.epoch.encode(to: &writer)
        writer.write(UInt64(bitPattern: snapshot.order.createdAt.seconds))
        writer.writeFixed(snapshot.order.id.bytes)
        writer.write(UInt8(snapshot.isOwn ? 1 : 0))
        writer.writeOpaque(snapshot.digest)
        if let outcome = snapshot.outcome {
            outcome.withUnsafeBytes { writer.writeOpaque($0) }
        } else {
            writer.writeOpaque([])
        }
        OuterKeys.encode(snapshot.outerKeys, to: &writer)
        self.init(&writer, snapshot.undo)
    }

    init(_ commit: ShelvedCommit, isPending: Bool) {
        var writer = TLSWriter(capacity: 4096)
        writer.write(Self.version)
        writer.write(UInt8(isPending ? 1 : 0))
        commit.epoch.encode(to: &writer)
        commit.authenticator.withUnsafeBytes { writer.writeOpaque($0) }
        writer.writeOpaque(commit.digest)
        writer.writeOpaque(commit.event.json())
        writer.writeVector { writer in
            for welcome in commit.welcomes {
                writer.writeFixed(welcome.recipient.bytes)
                writer.writeOpaque(welcome.rumor.rumorJSON())
            }
        }
        self.init(&writer, commit.changes)
    }

    private init(_ writer: inout TLSWriter, _ changes: GroupStorageChanges) {
        writer.write(UInt8(changes.replacesAll ? 1 : 0))
        let deleted = changes.records.filter { $0.value == nil }.keys.map(\.description).sorted()
        writer.writeVector { writer in
            for name in deleted { writer.writeOpaque(Array(name.utf8)) }
        }
        self.init(header: Secret(writer.bytes), records: changes.records.compactMapValues { $0 })
    }

    // MARK: Reading

    func snapshot() throws(TLSCodecError) -> RaceSnapshot {
        var reader = TLSReader(self.header.copyBytes())
        try Self.readVersion(&reader)
        let epoch = try Epoch(from: &reader)
        let createdAt = UnixTime(Int64(bitPattern: try reader.readUInt64()))
        let id = try Self.readID(&reader)
        let isOwn = try reader.readUInt8() == 1
        let digest = try reader.readOpaque()
        let outcome = try reader.readOpaque()
        let outerKeys = try OuterKeys.read(&reader, upTo: epoch)
        return RaceSnapshot(
            epoch: epoch, order: CommitOrder(createdAt: createdAt, id: id), isOwn: isOwn,
            digest: digest, outcome: outcome.isEmpty ? nil : Secret(outcome), outerKeys: outerKeys,
            undo: try self.changes(&reader))
    }

    func ownCommit() throws(TLSCodecError) -> (commit: ShelvedCommit, isPending: Bool) {
        var reader = TLSReader(self.header.copyBytes())
        try Self.readVersion(&reader)
        let isPending = try reader.readUInt8() == 1
        let epoch = try Epoch(from: &reader)
        let authenticator = Secret(try reader.readOpaque())
        let digest = try reader.readOpaque()
        let event: Event = try Self.reading(&reader) { try Event(json: $0) }
        let welcomes = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) in
            var welcomes: [DueWelcome] = []
            while !inner.isAtEnd {
                let offset = inner.offset
                guard let recipient = try? PublicKey(bytes: try inner.readFixed(32)) else {
                    throw TLSCodecError(.invalidValue, offset: offset, "invalid public key of a recipient")
                }
                let rumor = try Self.reading(&inner) { try UnsignedEvent.parseRumor($0).event }
                welcomes.append(DueWelcome(recipient: recipient, rumor: rumor))
            }
            return welcomes
        }
        let commit = ShelvedCommit(
            event: event, welcomes: welcomes, epoch: epoch, authenticator: authenticator,
            digest: digest, changes: try self.changes(&reader))
        return (commit, isPending)
    }

    private func changes(_ reader: inout TLSReader) throws(TLSCodecError) -> GroupStorageChanges {
        let replacesAll = try reader.readUInt8() == 1
        var records: [GroupRecord: Secret?] = self.records.mapValues { .some($0) }
        let deleted = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) in
            var names: [GroupRecord] = []
            while !inner.isAtEnd {
                let offset = inner.offset
                let text = String(decoding: try inner.readOpaque(), as: UTF8.self)
                guard let name = GroupRecord(text) else {
                    throw TLSCodecError(.invalidValue, offset: offset, "invalid record name")
                }
                names.append(name)
            }
            return names
        }
        for name in deleted { records[name] = .some(nil) }
        try reader.finish()
        return GroupStorageChanges(replacesAll: replacesAll, records: records)
    }

    private static func readVersion(_ reader: inout TLSReader) throws(TLSCodecError) {
        let version = try reader.readUInt16()
        guard version == Self.version else {
            throw TLSCodecError(.invalidValue, offset: 0, "the header has version \(version), this library reads 1")
        }
    }

    private static func readID(_ reader: inout TLSReader) throws(TLSCodecError) -> EventID {
        let offset = reader.offset
        guard let id = try? EventID(bytes: try reader.readFixed(32)) else {
            throw TLSCodecError(.invalidValue, offset: offset, "invalid event id")
        }
        return id
    }

    private static func reading<Value>(
        _ reader: inout TLSReader, _ body: ([UInt8]) throws -> Value
    ) throws(TLSCodecError) -> Value {
        let offset = reader.offset
        let bytes = try reader.readOpaque()
        do { return try body(bytes) } catch { throw TLSCodecError(.invalidValue, offset: offset, "\(error)") }
    }
}

/// Outer keys by epoch: `struct { uint64 epoch; opaque key<V>; } outer_keys<V>`.
enum OuterKeys {
    static func encode(_ keys: [Epoch: Secret], to writer: inout TLSWriter) {
        writer.writeVector { writer in
            for (epoch, key) in keys.sorted(by: { $0.key < $1.key }) {
                epoch.encode(to: &writer)
                key.withUnsafeBytes { writer.writeOpaque($0) }
            }
        }
    }

    static func read(_ reader: inout TLSReader, upTo last: Epoch) throws(TLSCodecError) -> [Epoch: Secret] {
        try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) in
            var keys: [Epoch: Secret] = [:]
            while !inner.isAtEnd {
                let offset = inner.offset
                let epoch = try Epoch(from: &inner)
                guard epoch <= last else {
                    throw TLSCodecError(
                        .invalidValue, offset: offset, "an outer key is of the future epoch \(epoch)")
                }
                let key = Secret(try inner.readOpaque())
                guard key.count == 32 else {
                    throw TLSCodecError(
                        .invalidValue, offset: offset, "outer key: expected 32 bytes, found \(key.count)")
                }
                keys[epoch] = key
            }
            return keys
        }
    }
}
