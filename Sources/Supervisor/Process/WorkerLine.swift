import Foundation

/// One line of a worker's standard output, with only the fields that the supervisor needs.
enum WorkerLine: Equatable {
    enum Status: Equatable {
        case starting, ready, draining
        /// The worker is about to end; with its message.
        case failed(String)
    }

    /// An answer to a question, with the question's number.
    struct Answer: Equatable {
        struct Refusal: Error, Equatable {
            let text: String
        }

        let id: Int64
        /// JSON, or the reason for a refusal.
        let outcome: Result<Data, Refusal>
    }

    case status(Status)
    case answer(Answer)
    /// `{"event":…}`: forwarded without parsing.
    case event
    case unrecognised

    /// The beginnings of the lines of most events: no other line has these members.
    private static let eventBeginnings = ["{\"bot\":", "{\"chat\":"]

    init(_ line: String) {
        if Self.eventBeginnings.contains(where: line.hasPrefix) {
            self = .event
            return
        }
        // Untyped, since large results are only forwarded.
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        guard let fields = object else {
            self = .unrecognised
            return
        }
        if let id = fields["answer"] as? Int64 {
            self = Answer(id: id, fields).map(WorkerLine.answer) ?? .unrecognised
        } else if let status = Status(fields) {
            self = .status(status)
        } else {
            self = fields["status"] == nil && fields["event"] is String ? .event : .unrecognised
        }
    }
}

extension WorkerLine.Status {
    /// Maximum number of characters kept of a worker's own messages.
    private static let longestWords = 1000

    fileprivate init?(_ fields: [String: Any]) {
        switch fields["status"] as? String {
        case "starting": self = .starting
        case "ready": self = .ready
        case "draining": self = .draining
        case "failed":
            guard let words = fields["message"] as? String else { return nil }
            self = .failed(String(words.prefix(Self.longestWords)))
        default: return nil
        }
    }
}

extension WorkerLine.Answer {
    fileprivate init?(id: Int64, _ fields: [String: Any]) {
        self.id = id
        if let text = fields["error"] as? String {
            outcome = .failure(Refusal(text: text))
        } else if let result = fields["result"],
            let json = try? JSONSerialization.data(
                withJSONObject: result, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        {
            outcome = .success(json)
        } else {
            return nil
        }
    }
}
