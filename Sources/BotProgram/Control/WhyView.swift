import Nostr
import Telemetry

/// The fate of an event according to a supervisor's accounts, as text.
struct WhyView {
    let text: String
    /// Whether every request failed, so that nothing is known; ``text`` contains the reasons.
    let isFailure: Bool

    /// - Parameters:
    ///   - result: a worker's answer; without `account`, an object of answers by account.
    ///   - account: the account that was asked; nil for all of them.
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
        var failures: [(account: String, error: String)] = []
        var unknown: [String] = []
        for (account, answer) in answers {
            let lines = answer["result"]?["lines"]?.array?.compactMap(\.string) ?? []
            if let error = answer["error"]?.string {
                failures.append((account, error))
            } else if Self.isKnown(answer["result"]) {
                known += ["account \(account)"] + lines.map { "  \($0)" }
            } else {
                unknown = lines
            }
        }
        // Accounts that do not know the event are shown only if no other knows it.
        let said = known.isEmpty ? unknown : known
        isFailure = failures.count == answers.count
        if isFailure, let error = failures.first?.error, failures.allSatisfy({ $0.error == error }) {
            text = error.terminalLine
        } else {
            let lines = failures.map { "account \($0.account): \($0.error)" } + said
            text = lines.isEmpty ? "no account is running" : lines.map(\.terminalLine).joined(separator: "\n")
        }
    }

    private static func isKnown(_ result: JSONValue?) -> Bool {
        ["events", "waiting_since", "quarantine"].contains { result?[$0]?.array?.isEmpty == false }
    }
}
