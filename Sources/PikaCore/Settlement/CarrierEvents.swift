import MLS
import Nostr

/// The kind 445 event in which an MLSMessage arrived.
struct CarrierEvent: Sendable, Hashable {
    let id: EventID
    let createdAt: UnixTime
    /// The epoch that the message names.
    let epoch: Epoch
}

/// The events of commits, proposals and undelivered messages in groups of the second generation, by the SHA-256 of the
/// MLSMessage. Convergence identifies messages by that digest only, because anyone who knows the epoch can wrap one in
/// another event; handlers, journals and metrics use the event's id.
///
/// Bounded by the tables of ``Marmot/GroupConvergence``: an event is kept as long as its message, and an applied commit's
/// as long as it may be undone.
struct CarrierEvents: Sendable {
    private var events: [GroupID: [Bytes32: CarrierEvent]] = [:]

    func event(of message: Bytes32, in groupID: GroupID) -> CarrierEvent? { self.events[groupID]?[message] }

    /// Stores the event of a message that is not decided yet, or that may be undone.
    mutating func put(_ event: CarrierEvent, of message: Bytes32, in groupID: GroupID, _ step: inout CoreStep) {
        guard self.events[groupID]?[message] == nil else { return }
        self.events[groupID, default: [:]][message] = event
        step.changes.append(.putMemo(Self.name(message, groupID), event.stored))
    }

    /// Forgets the event of a message that is decided for good.
    mutating func remove(_ message: Bytes32, of groupID: GroupID, _ step: inout CoreStep) {
        guard self.events[groupID]?.removeValue(forKey: message) != nil else { return }
        step.changes.append(.putMemo(Self.name(message, groupID), nil))
    }

    /// Forgets the events of messages before an epoch, which no pass considers again.
    mutating func prune(_ groupID: GroupID, before epoch: Epoch, _ step: inout CoreStep) {
        for (message, event) in self.events[groupID] ?? [:] where event.epoch < epoch {
            self.remove(message, of: groupID, &step)
        }
    }

    /// Forgets the events of messages that a group does not keep any more.
    mutating func prune(_ groupID: GroupID, keeping isKept: (Bytes32) -> Bool, _ step: inout CoreStep) {
        for message in (self.events[groupID] ?? [:]).keys where !isKept(message) {
            self.remove(message, of: groupID, &step)
        }
    }

    /// Forgets all events of a group.
    mutating func removeAll(of groupID: GroupID, _ step: inout CoreStep) {
        for message in (self.events[groupID] ?? [:]).keys { self.remove(message, of: groupID, &step) }
        self.events[groupID] = nil
    }

    // MARK: Stored form

    private static func name(_ message: Bytes32, _ groupID: GroupID) -> MemoName {
        MemoName(.carrierEvent, groupID.bytes + message.bytes)
    }

    /// Restores an event; false if the memo is unreadable.
    mutating func restore(_ key: [UInt8], _ memo: Secret) -> Bool {
        guard key.count > Bytes32.count, let message = Bytes32(key.suffix(Bytes32.count)),
            let event = CarrierEvent(stored: memo)
        else { return false }
        self.events[GroupID(key.dropLast(Bytes32.count)), default: [:]][message] = event
        return true
    }
}

// struct {
//     opaque event_id[32];
//     uint64 epoch;
//     uint64 created_at;       two's complement
// } CarrierEvent;

extension CarrierEvent {
    fileprivate var stored: Secret {
        let time = withUnsafeBytes(of: self.createdAt.seconds.bigEndian) { Array($0) }
        return Secret(self.id.bytes + self.epoch.bytes + time)
    }

    fileprivate init?(stored: Secret) {
        let bytes = stored.copyBytes()
        guard bytes.count == 48, let id = try? EventID(bytes: bytes[..<32]), let epoch = Epoch(bytes: bytes[32..<40])
        else { return nil }
        let time = bytes[40...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(id: id, createdAt: UnixTime(Int64(bitPattern: time)), epoch: epoch)
    }
}
