public import MLS
import Nostr
import TLSCodec

// struct {
//     uint16 version = 1;
//     opaque event_json<V>;
//     struct { opaque recipient[32]; opaque rumor_json<V>; } welcomes<V>;
// } pending header

/// A commit that was published and not confirmed must survive a crash: relays may have it already.
extension MarmotGroup {
    /// The pending commit as a header and all MLS records of the group after it; nil if none is pending.
    public func storedPending() -> (header: Secret, mls: GroupStorageChanges)? {
        guard let pending = self.pending else { return nil }
        var writer = TLSWriter(capacity: 4096)
        writer.write(UInt16(1))
        writer.writeOpaque(pending.event.json())
        writer.writeVector { writer in
            for welcome in pending.welcomes {
                writer.writeFixed(welcome.recipient.bytes)
                writer.writeOpaque(welcome.rumor.rumorJSON())
            }
        }
        var next = pending.next
        next.markAllChanged()
        return (Secret(writer.bytes), next.drainChanges())
    }

    /// Takes a stored pending commit back, if it still follows on this group's epoch.
    public mutating func restorePending(header: Secret, records: [GroupRecord: Secret]) throws(MarmotError) {
        do {
            let next = try MLSGroup(records: records)
            guard next.epoch > 0, next.epoch - 1 == self.epoch, next.groupID == self.groupID else { return }
            var reader = TLSReader(header.copyBytes())
            let version = try reader.readUInt16()
            guard version == 1 else {
                throw TLSCodecError(.invalidValue, offset: 0, "the header has version \(version), this library reads 1")
            }
            let event = try Event(json: try reader.readOpaque())
            var welcomes: [DueWelcome] = []
            let list = try reader.readOpaque()
            try reader.finish()
            var entries = TLSReader(list)
            while !entries.isAtEnd {
                let recipient = try PublicKey(bytes: try entries.readFixed(32))
                let rumor = try UnsignedEvent.parseRumor(try entries.readOpaque()).event
                welcomes.append(DueWelcome(recipient: recipient, rumor: rumor))
            }
            var merged = next
            merged.markAllChanged()
            self.pending = OwnCommit(
                event: event, welcomes: welcomes, next: merged, data: try Self.data(next.extensions, self.profile))
        } catch { throw MarmotError(.badStoredForm, "pending commit: \(error)") }
    }
}
