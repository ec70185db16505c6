import MLS
import Nostr

/// The outcomes of the most recent idempotent actions (``RequestID/once(_:)``).
struct OnceAnswers: Sendable {
    struct Answer: Sendable, Hashable {
        /// Ascending: the lowest number is the oldest answer, which is dropped first.
        var number: Int64
        var outcome: ActionOutcome
    }

    /// The maximum number of stored outcomes.
    static let capacity = 1024

    /// By the digest of the key.
    private(set) var answers: [[UInt8]: Answer] = [:]
    /// Keys of actions in progress.
    var underWay: Set<String> = []
    private var lastNumber: Int64 = 0

    subscript(name: [UInt8]) -> Answer? { self.answers[name] }

    mutating func restore(_ answer: Answer, _ name: [UInt8]) {
        self.answers[name] = answer
        self.lastNumber = max(self.lastNumber, answer.number)
    }

    /// Stores an outcome. Also returns the name of the answer dropped to make room, if any.
    mutating func put(_ outcome: ActionOutcome, _ name: [UInt8]) -> (answer: Answer, forgotten: [UInt8]?) {
        self.lastNumber += 1
        let answer = Answer(number: self.answers[name]?.number ?? self.lastNumber, outcome: outcome)
        self.answers[name] = answer
        guard self.answers.count > Self.capacity,
            let oldest = self.answers.min(by: { $0.value.number < $1.value.number })?.key
        else { return (answer, nil) }
        self.answers[oldest] = nil
        return (answer, oldest)
    }

    /// Drops the answer about a message that no relay accepted, so that it can be sent anew.
    mutating func forget(messageID: EventID) -> [UInt8]? {
        let name = self.answers.first {
            if case .queued(messageID, _) = $0.value.outcome { true } else { false }
        }?.key
        if let name { self.answers[name] = nil }
        return name
    }
}

extension OnceAnswers.Answer {
    /// The stored form; nil for outcomes that are not stored.
    var memo: Secret? {
        var json: JSONObject = ["v": 1, "number": .integer(self.number)]
        switch self.outcome {
        case .queued(let messageID, let wrapper):
            json["message"] = .string(messageID.hex)
            json["wrapper"] = .string(wrapper.hex)
        // The peers that were left out are known only while the process lives.
        case .done(let chatID): if let chatID { json["chat"] = .string(chatID) }
        case .partlyDone(let chatID, _): json["chat"] = .string(chatID)
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
            self.outcome = .done(chatID: json["chat"]?.string)
        }
    }
}
