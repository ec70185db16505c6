import Nostr
import Telemetry

/// The output of `reload` as text.
struct ReloadView {
    let result: JSONValue

    /// Whether every account has applied the changes.
    var isGood: Bool { result["success"]?.bool != false }

    var text: String {
        let parts = [("applied", "now"), ("waiting", "later"), ("refused", "refused")]
        let lines = parts.flatMap { member, word in
            (result[member]?.array ?? []).compactMap(\.string).map { "\(word): \($0)" }
        }
        return lines.isEmpty ? "no changes" : lines.map(\.terminalLine).joined(separator: "\n")
    }
}
