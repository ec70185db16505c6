import MLS
import Nostr
import TLSCodec

// struct {
//     uint16 version = 1;
//     uint64 order;
//     opaque id[32];
//     uint8 kind;                           0 commit, 1 proposal, 2 application message
//     uint64 epoch;
//     uint8 flags;                          1 fresh, 2 own, 4 waits for a proposal, 8 used, 16 has a home,
//                                           32 proven
//     Disposition disposition;
//     opaque home[32];                      only with the flag
//     opaque message<V>;
// } Input;

/// Stored form of an admitted input.
extension StoredInput {
    private static let kinds: [ConvergenceInput.Kind] = [.commit, .proposal, .application]

    /// Returns the stored form; `order` is the place in the order of admission.
    func encoded(order: UInt64) -> Secret {
        var writer = TLSWriter(capacity: self.input.bytes.count + 128)
        writer.write(UInt16(1))
        writer.write(order)
        self.input.encodeStored(to: &writer, Self.kinds)
        let flags: [(isSet: Bool, bit: UInt8)] = [
            (self.isFresh, 1), (self.isOwn, 2), (self.waitsForProposal, 4), (self.isUsed, 8), (self.home != nil, 16),
            (self.isProven, 32),
        ]
        writer.write(flags.reduce(UInt8(0)) { $1.isSet ? $0 | $1.bit : $0 })
        self.disposition.encodeStored(to: &writer)
        if let home = self.home { writer.writeFixed(home.bytes) }
        writer.writeOpaque(self.input.bytes)
        return Secret(writer.takeBytes())
    }

    /// Reads an input with its place in the order of admission.
    static func read(_ stored: Secret) throws(TLSCodecError) -> (order: UInt64, item: StoredInput) {
        var reader = TLSReader(stored.copyBytes())
        try reader.readVersion(1)
        let order = try reader.readUInt64()
        let id = try reader.readID()
        let kind = try Self.kind(&reader)
        let epoch = try Epoch(from: &reader)
        let flags = try reader.readUInt8()
        let disposition = try InputDisposition(stored: &reader)
        let home: Bytes32? = try flags & 16 == 0 ? nil : reader.readID()
        let input = ConvergenceInput(id: id, kind: kind, epoch: epoch, bytes: try reader.readOpaque())
        try reader.finish()
        var item = StoredInput(input: input, isFresh: flags & 1 != 0, disposition: disposition)
        item.isOwn = flags & 2 != 0
        item.waitsForProposal = flags & 4 != 0
        item.isUsed = flags & 8 != 0
        item.isProven = flags & 32 != 0
        item.home = home
        return (order, item)
    }

    private static func kind(_ reader: inout TLSReader) throws(TLSCodecError) -> ConvergenceInput.Kind {
        let start = reader.offset
        let number = Int(try reader.readUInt8())
        guard self.kinds.indices.contains(number) else {
            throw TLSCodecError(.invalidValue, offset: start, "unknown kind \(number) of an input")
        }
        return self.kinds[number]
    }
}

extension ConvergenceInput {
    fileprivate func encodeStored(to writer: inout TLSWriter, _ kinds: [Kind]) {
        writer.writeFixed(self.id.bytes)
        writer.write(UInt8(clamping: kinds.firstIndex(of: self.kind) ?? 0))
        self.epoch.encode(to: &writer)
    }
}

/// Stored form of dispositions, one after the other.
extension StoredDisposition {
    static func encode(_ dispositions: [StoredDisposition]) -> Secret {
        var writer = TLSWriter(capacity: 64 * dispositions.count + 8)
        writer.write(UInt16(1))
        writer.writeVector { writer in
            for disposition in dispositions {
                writer.writeFixed(disposition.id.bytes)
                disposition.disposition.encodeStored(to: &writer)
            }
        }
        return Secret(writer.takeBytes())
    }

    static func read(_ stored: Secret, of epoch: Epoch) throws(TLSCodecError) -> [StoredDisposition] {
        var reader = TLSReader(stored.copyBytes())
        try reader.readVersion(1)
        let dispositions = try reader.readElements { (reader: inout TLSReader) throws(TLSCodecError) in
            StoredDisposition(
                id: try reader.readID(), epoch: epoch, disposition: try InputDisposition(stored: &reader))
        }
        try reader.finish()
        return dispositions
    }
}

extension InputDisposition {
    /// Maximum number of bytes of a stored refusal's text; it is never as long, unless it repeats what peers wrote.
    private static let maximumText = 400

    fileprivate func encodeStored(to writer: inout TLSWriter) {
        func write(_ type: UInt8, _ texts: [String] = []) {
            writer.write(type)
            for text in texts { writer.writeOpaque(Array(text.utf8.prefix(Self.maximumText))) }
        }
        switch self {
        case .collected: write(0)
        case .accepted: write(1)
        case .deferred(let reason): write(2, [reason.rawValue])
        case .dropped(.invalid(let refusal?)): write(3, [refusal.reason, refusal.detail])
        case .dropped(.invalid(nil)): write(4)
        case .dropped(.beyondAnchor): write(5)
        case .dropped(.beforeJoin): write(6)
        case .dropped(.unreferenced): write(7)
        case .dropped(.crowded): write(8)
        case .dropped(.halted): write(9)
        case .invalidated(let reason): write(10, [reason.rawValue])
        case .duplicate: write(11)
        case .ownEcho: write(12)
        case .refused: write(13)
        }
    }

    fileprivate init(stored reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        let type = try reader.readUInt8()
        switch type {
        case 0: self = .collected
        case 1: self = .accepted
        case 2: self = .deferred(try Self.reason(&reader))
        case 3:
            let reason = try reader.readStoredText()
            self = .dropped(.invalid(Refusal(reason: reason, detail: try reader.readStoredText())))
        case 4: self = .dropped(.invalid(nil))
        case 5: self = .dropped(.beyondAnchor)
        case 6: self = .dropped(.beforeJoin)
        case 7: self = .dropped(.unreferenced)
        case 8: self = .dropped(.crowded)
        case 9: self = .dropped(.halted)
        case 10: self = .invalidated(try Self.reason(&reader))
        case 11: self = .duplicate
        case 12: self = .ownEcho
        case 13: self = .refused
        default: throw TLSCodecError(.invalidValue, offset: start, "unknown disposition \(type)")
        }
    }

    private static func reason<Reason: RawRepresentable>(
        _ reader: inout TLSReader
    ) throws(TLSCodecError) -> Reason where Reason.RawValue == String {
        let start = reader.offset
        let text = try reader.readStoredText()
        guard let reason = Reason(rawValue: text) else {
            throw TLSCodecError(.invalidValue, offset: start, "unknown reason of a disposition")
        }
        return reason
    }
}
