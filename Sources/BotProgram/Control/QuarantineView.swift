import Nostr

/// The quarantines of a supervisor's accounts as text.
struct QuarantineView {
    let text: String
    /// Whether no account has answered.
    let isFailure: Bool

    /// - Parameters:
    ///   - result: a worker's answer; without `account`, an object of answers by account.
    ///   - account: the account that was asked; nil for all of them.
    init(_ result: JSONValue, of account: String?) {
        let answers: [(account: String, answer: JSONValue)]
        if let account {
            answers = [(account, ["result": result])]
        } else {
            answers = (result.object?.members ?? []).map { ($0.name, $0.value) }.sorted { $0.0 < $1.0 }
        }
        let failures = answers.compactMap { account, answer in
            answer["error"]?.string.map { "account \(account): \($0)" }
        }
        let entries = answers.flatMap { account, answer in
            (answer["result"]?["entries"]?.array ?? []).map { "\(account): \(Self.line($0))" }
        }
        isFailure = !answers.isEmpty && failures.count == answers.count
        let lines = failures + entries
        text = lines.isEmpty ? "nothing is quarantined" : lines.joined(separator: "\n")
    }

    /// Returns a line such as `event/5f… of group/3a…, after 2 crashes (ingest)`.
    static func line(_ entry: JSONValue) -> String {
        var line = entry["subject"]?.string ?? "-"
        if let event = entry["event"]?.string { line += ", which claims to be event \(event)" }
        if let scope = entry["scope"]?.string { line += " of \(scope)" }
        line += ", after \(entry["deaths"]?.integer ?? 0) crashes (\(entry["stage"]?.string ?? "-"))"
        return entry["released"]?.bool == true ? line + "; released, active again after a restart" : line
    }
}
