import Nostr

/// What the accounts of a supervisor say became of an event, for people.
struct WhyView {
    let text: String

    /// - Parameters:
    ///   - result: a worker's answer; without `account`, an object of them by account.
    ///   - account: which one was asked; nil for all of them.
    init(_ result: JSONValue, of account: String?) {
        let answers: [(account: String, answer: JSONValue)]
        if let account {
            answers = [(account, ["result": result])]
        } else if case .object(let object) = result {
            answers = object.members.map { ($0.name, $0.value) }.sorted { $0.0 < $1.0 }
        } else {
            answers = []
        }
        var known: [String] = []
        var failures: [String] = []
        var unknown: [String] = []
        for (account, answer) in answers {
            let lines = answer["result"]?["lines"]?.array?.compactMap(\.string) ?? []
            if let error = answer["error"]?.string {
                failures.append("account \(account): \(error)")
            } else if Self.isKnown(answer["result"]) {
                known += ["account \(account)"] + lines.map { "  \($0)" }
            } else {
                unknown = lines
            }
        }
        // Who knows nothing of it says so only if nobody knows more.
        let lines = failures + (known.isEmpty ? unknown : known)
        text = lines.isEmpty ? "no account is at work" : lines.joined(separator: "\n")
    }

    private static func isKnown(_ result: JSONValue?) -> Bool {
        ["events", "waiting_since"].contains { result?[$0]?.array?.isEmpty == false }
    }
}
