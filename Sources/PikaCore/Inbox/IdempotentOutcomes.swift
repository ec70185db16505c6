import MLS
import Nostr

/// The outcomes of the most recent idempotent actions (``RequestID/once(_:)``).
struct IdempotentOutcomes: Sendable {
    struct Entry: Sendable, Hashable {
        /// Ascending: the lowest number is the oldest outcome, which is dropped first.
        var number: Int64
        var outcome: ActionOutcome
    }

    /// The maximum number of stored outcomes.
    static let capacity = 1024

    /// Whether an action has to be performed.
    enum Status: Sendable {
        case new
        case inProgress
        case done(ActionOutcome)
    }

    /// The outcomes, by the digest of the key.
    private var entries: [[UInt8]: Entry] = [:]
    /// Keys of actions in progress.
    private var inProgress: Set<String> = []
    private var lastNumber: Int64 = 0

    /// The stored outcomes, by the digest of the key.
    var stored: [[UInt8]: ActionOutcome] { self.entries.mapValues(\.outcome) }

    /// Restores an outcome; false if the memo is unreadable.
    mutating func restore(_ name: [UInt8], _ memo: Secret) -> Bool {
        guard let entry = Entry(memo: memo) else { return false }
        self.entries[name] = entry
        self.lastNumber = max(self.lastNumber, entry.number)
        return true
    }

    /// Begins an action; a new one counts as in progress from here on.
    mutating func begin(_ request: RequestID?) -> Status {
        guard let key = request?.onceKey else { return .new }
        if self.inProgress.contains(key) { return .inProgress }
        if let entry = self.entries[Self.name(of: key)] { return .done(entry.outcome) }
        self.inProgress.insert(key)
        return .new
    }

    /// Marks an action whose outcome is stored as in progress nevertheless: it is not reported yet.
    mutating func resume(_ request: RequestID?) {
        if let key = request?.onceKey { self.inProgress.insert(key) }
    }

    /// Stores the outcome of an action, in the transaction with its changes.
    mutating func record(_ outcome: ActionOutcome, of request: RequestID, _ step: inout CoreStep) {
        guard let key = request.onceKey else { return }
        self.inProgress.remove(key)
        if case .failed = outcome { return }
        let name = Self.name(of: key)
        self.lastNumber += 1
        let entry = Entry(number: self.entries[name]?.number ?? self.lastNumber, outcome: outcome)
        self.entries[name] = entry
        step.changes.append(.putMemo(MemoName(.answer, name), entry.memo))
        guard self.entries.count > Self.capacity,
            let oldest = self.entries.min(by: { $0.value.number < $1.value.number })?.key
        else { return }
        self.entries[oldest] = nil
        step.changes.append(.putMemo(MemoName(.answer, oldest), nil))
    }

    /// Removes the outcome about a message that no relay accepted: when requested again, it is resent.
    mutating func remove(messageID: EventID?, _ step: inout CoreStep) {
        guard let messageID else { return }
        let name = self.entries.first {
            if case .queued(messageID, _) = $0.value.outcome { true } else { false }
        }?.key
        guard let name else { return }
        self.entries[name] = nil
        step.changes.append(.putMemo(MemoName(.answer, name), nil))
    }

    private static func name(of key: String) -> [UInt8] { SHA256Derivation.digest(Array(key.utf8)) }
}

extension IdempotentOutcomes.Entry {
    /// The stored form; nil for outcomes that are not stored.
    var memo: Secret? {
        var json: JSONObject = ["v": 1, "number": .integer(self.number)]
        switch self.outcome {
        case .queued(let messageID, let wrapper):
            json["message"] = .string(messageID.hex)
            json["wrapper"] = .string(wrapper.hex)
        // The peers that were left out are known only while the process lives.
        case .done(let chatID): if let chatID { json["chat"] = .string(chatID.rawValue) }
        case .partlyDone(let chatID, _): json["chat"] = .string(chatID.rawValue)
        case .found, .failed: return nil
        }
        return Secret(JSONValue.object(json).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo),
            let number = json["number"]?.integer
        else { return nil }
        self.number = number
        if let message = json["message"]?.string {
            guard let id = try? EventID(hex: message), let wrapper = json["wrapper"]?.string,
                let wrapperID = try? EventID(hex: wrapper)
            else { return nil }
            self.outcome = .queued(messageID: id, wrapper: wrapperID)
        } else {
            self.outcome = .done(chatID: json["chat"]?.string.map(ChatID.init(rawValue:)))
        }
    }
}
