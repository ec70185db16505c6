import MLS
import Nostr

/// The actions of handlers and clients whose outcome is not known yet. Those that a bot or a client wants to be told about
/// are stored, so that each is reported although the process ends.
struct PendingActions: Sendable {
    /// The maximum number of pending actions; beyond it the outcome of the oldest counts as unknown.
    static let capacity = 8_192

    /// An action in progress.
    struct Entry: Sendable, Hashable {
        let id: ActionID
        let kind: String
        /// Whether the bot or client is told, not only the metrics.
        let isReported: Bool
        /// Ascending: the lowest number is the oldest action.
        let number: Int64
        /// The request of a client that also waits for a reply; nil for a handler's action.
        var request: RequestID?
        /// The chat that the action is about, by its group id once a message is queued; empty if it has none yet.
        var chatID: ChatID
        /// The message that the action has queued.
        var messageID: EventID?
        /// The relays that have the message, once there is one.
        var relays: [RelayURL] = []
        /// Whether a first relay has the message.
        var isPublished = false
        /// Whether the action is done, except that invitations are still to reach a relay.
        var isDone = false

        /// The group of the message; nil if there is none.
        var groupID: GroupID? { self.messageID == nil ? nil : GroupID(hex: self.chatID.rawValue) }

        /// Identifies the message within the account: one text sent to two groups may have one id.
        var messageKey: EventID? {
            guard let messageID, let groupID else { return nil }
            return SeenEvents.key(ofMessage: messageID, in: groupID)
        }
    }

    private var entries: [ActionID: Entry] = [:]
    private var byMessage: [EventID: ActionID] = [:]
    private var byRequest: [RequestID: ActionID] = [:]
    private var lastNumber: Int64 = 0

    var isEmpty: Bool { self.entries.isEmpty }

    var all: [Entry] { self.entries.values.sorted { $0.number < $1.number } }

    subscript(id: ActionID) -> Entry? { self.entries[id] }

    /// The action of a client's request; nil if there is none.
    subscript(request request: RequestID) -> Entry? { self.byRequest[request].flatMap { self.entries[$0] } }

    subscript(messageKey key: EventID) -> Entry? { self.byMessage[key].flatMap { self.entries[$0] } }

    /// Begins an action. Returns the oldest one, which is forgotten, if there are too many.
    mutating func begin(
        _ id: ActionID, kind: String, in chatID: ChatID, isReported: Bool, request: RequestID? = nil,
        _ step: inout CoreStep
    ) -> Entry? {
        guard self.entries[id] == nil else { return nil }
        // checked: counts actions of one account.
        self.lastNumber += 1
        self.put(
            Entry(
                id: id, kind: kind, isReported: isReported, number: self.lastNumber, request: request, chatID: chatID),
            &step)
        guard self.entries.count > Self.capacity,
            let oldest = self.entries.values.min(by: { $0.number < $1.number })
        else { return nil }
        self.end(oldest.id, &step)
        return oldest
    }

    /// Stores a change of a pending action.
    mutating func put(_ entry: Entry, _ step: inout CoreStep) {
        self.index(entry)
        if entry.isReported { step.changes.append(.putMemo(Self.name(of: entry.id), entry.memo)) }
    }

    /// Removes an action whose outcome is final.
    mutating func end(_ id: ActionID, _ step: inout CoreStep) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        if let key = entry.messageKey { self.byMessage[key] = nil }
        if let request = entry.request { self.byRequest[request] = nil }
        if entry.isReported { step.changes.append(.putMemo(Self.name(of: id), nil)) }
    }

    /// Restores an action; false if the memo is unreadable.
    mutating func restore(_ memo: Secret) -> Bool {
        guard let entry = Entry(memo: memo) else { return false }
        self.index(entry)
        self.lastNumber = max(self.lastNumber, entry.number)
        return true
    }

    private mutating func index(_ entry: Entry) {
        self.entries[entry.id] = entry
        if let key = entry.messageKey { self.byMessage[key] = entry.id }
        if let request = entry.request { self.byRequest[request] = entry.id }
    }

    private static func name(of id: ActionID) -> MemoName {
        MemoName(.pendingAction, SHA256Derivation.digest(Array(id.rawValue.utf8)))
    }
}

/// The stored form: JSON, version 1.
extension PendingActions.Entry {
    fileprivate var memo: Secret {
        var json: JSONObject = [
            "v": 1, "id": .string(self.id.rawValue), "kind": .string(self.kind), "number": .integer(self.number),
            "chat": .string(self.chatID.rawValue), "relays": .array(self.relays.map { .string($0.string) }),
            "published": .bool(self.isPublished), "done": .bool(self.isDone),
        ]
        if let messageID { json["message"] = .string(messageID.hex) }
        if let request { json["request"] = .string(request.rawValue) }
        return Secret(JSONValue.object(json).json())
    }

    fileprivate init?(memo: Secret) {
        guard let json = JSONValue(memo: memo), let id = json["id"]?.string, let kind = json["kind"]?.string,
            let number = json["number"]?.integer, number >= 0, number < .max, let chat = json["chat"]?.string,
            let relays = json["relays"]?.array
        else { return nil }
        self.init(
            id: ActionID(rawValue: id), kind: kind, isReported: true, number: number, chatID: ChatID(rawValue: chat))
        self.request = json["request"]?.string.map(RequestID.init(rawValue:))
        if let message = json["message"]?.string {
            guard let messageID = try? EventID(hex: message) else { return nil }
            self.messageID = messageID
        }
        self.relays = relays.compactMap { $0.string.flatMap { try? RelayURL($0) } }
        self.isPublished = json["published"] == .bool(true)
        self.isDone = json["done"] == .bool(true)
    }
}
