import MLS
import Nostr

/// A message of this account that waits until nothing is undecided in its group. Its inner event is final, except for the
/// time after a long wait.
struct HeldMessage: Sendable {
    let rumor: UnsignedEvent
    let purpose: OutboxRow.Purpose
    /// The id of the outbox row, if the caller chose one.
    let rowID: String?
    /// The caller's request, in this run of the process; stored only if it is idempotent.
    var request: RequestID?
}

/// Messages that wait for an undecided commit, which may end their epoch, in the order in which they were sent. Each
/// pass lasts at most five seconds.
struct HeldMessages: Sendable {
    /// Seconds after which a message gets the time of its sending, as after a restart: MDK asks relays for events from
    /// 120 seconds before the newest that it has seen.
    static let maximumAge: Int64 = 60
    /// The limits of one account; beyond them sending fails.
    static let limit = ParkingBudget(events: 1000, bytes: 8 << 20)
    /// The limits of one group, so that a group that is not decided for long leaves room for others.
    static let groupLimit = ParkingBudget(events: 400, bytes: 3 << 20)

    private struct Entry: Sendable {
        let number: Int
        let message: HeldMessage
        let bytes: Int
    }

    private var entries: [GroupID: [Entry]] = [:]
    private var total = ParkingBudget(events: 0, bytes: 0)
    private var lastNumber = 0

    /// The groups in which messages wait.
    var groups: [GroupID] { self.entries.keys.sorted() }

    /// The requests of all waiting messages.
    var requests: [RequestID] { self.entries.values.flatMap { $0.compactMap { $0.message.request } } }

    func isEmpty(of groupID: GroupID) -> Bool { self.entries[groupID] == nil }

    /// Whether a message with this outbox row waits.
    func contains(row: String) -> Bool {
        self.entries.values.contains { $0.contains { $0.message.rowID == row } }
    }

    /// Keeps a message, durably; throws if too many wait.
    mutating func append(_ message: HeldMessage, to groupID: GroupID, _ step: inout CoreStep) throws(AppCoreError) {
        let memo = message.stored
        let group = self.entries[groupID] ?? []
        let groupBytes = group.reduce(memo.count) { $0 + $1.bytes }
        guard self.total.events < Self.limit.events, self.total.bytes + memo.count <= Self.limit.bytes,
            group.count < Self.groupLimit.events, groupBytes <= Self.groupLimit.bytes
        else {
            throw AppCoreError(
                .busy,
                "\(group.count) messages to the group and \(self.total.events) in all wait until commits are settled; "
                    + "send this one again later")
        }
        self.lastNumber += 1
        self.insert(Entry(number: self.lastNumber, message: message, bytes: memo.count), groupID)
        step.changes.append(.putMemo(Self.name(self.lastNumber, groupID), memo))
    }

    /// Removes and returns the first message of a group.
    mutating func popFirst(of groupID: GroupID, _ step: inout CoreStep) -> HeldMessage? {
        guard let entry = self.entries[groupID]?.first else { return nil }
        self.entries[groupID]?.removeFirst()
        if self.entries[groupID]?.isEmpty == true { self.entries[groupID] = nil }
        self.total.events -= 1
        self.total.bytes -= entry.bytes
        step.changes.append(.putMemo(Self.name(entry.number, groupID), nil))
        return entry.message
    }

    private mutating func insert(_ entry: Entry, _ groupID: GroupID) {
        self.entries[groupID, default: []].append(entry)
        self.total.events += 1
        self.total.bytes += entry.bytes
    }

    // MARK: Stored form

    private static func name(_ number: Int, _ groupID: GroupID) -> MemoName {
        MemoName(.heldMessage, groupID.bytes + withUnsafeBytes(of: Int64(number).bigEndian) { Array($0) })
    }

    /// Restores a message; false if the memo is unreadable.
    mutating func restore(_ key: [UInt8], _ memo: Secret) -> Bool {
        guard key.count > 8, let message = HeldMessage(stored: memo) else { return false }
        let bytes = key.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let number = Int(exactly: bytes), number < .max else { return false }
        let groupID = GroupID(key.dropLast(8))
        self.insert(Entry(number: number, message: message, bytes: memo.count), groupID)
        self.entries[groupID]?.sort { $0.number < $1.number }
        self.lastNumber = max(self.lastNumber, number)
        return true
    }
}

/// The stored form: JSON, version 1.
extension HeldMessage {
    fileprivate var stored: Secret {
        var fields: JSONObject = [
            "v": 1, "rumor": .string(Hex.encode(self.rumor.rumorJSON())), "purpose": .string(self.purpose.rawValue),
        ]
        if let rowID { fields["row"] = .string(rowID) }
        if let request = self.request?.stored { fields[request.name] = request.value }
        return Secret(JSONValue.object(fields).json())
    }

    fileprivate init?(stored: Secret) {
        guard let json = JSONValue(memo: stored),
            let rumor = json["rumor"]?.string.flatMap({ Hex.decode($0) }),
            let event = try? UnsignedEvent.parseRumor(rumor).event,
            let purpose = json["purpose"]?.string.flatMap({ OutboxRow.Purpose(rawValue: $0) })
        else { return nil }
        self.init(
            rumor: event, purpose: purpose, rowID: json["row"]?.string,
            request: RequestID(stored: json))
    }
}
