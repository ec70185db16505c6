import Diagnosis
import Nostr
import Telemetry

/// All findings, as text and as JSON.
struct DoctorReport: Sendable {
    let file: String
    let findings: [Finding]

    func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

    /// A heading for each subject with its findings, and a summary line.
    var text: String {
        var lines: [String] = []
        for (index, finding) in findings.enumerated() {
            if index == 0 || findings[index - 1].subject != finding.subject { lines.append(finding.subject) }
            let level = finding.level == .ok ? "ok     " : finding.level == .warning ? "warning" : "ERROR  "
            lines.append("  \(level)  \(finding.check): \(finding.text)")
            if let advice = finding.advice { lines.append("             -> \(advice)") }
        }
        return (lines + ["", summary]).map(\.terminalLine).joined(separator: "\n")
    }

    private var summary: String {
        let (errors, warnings) = (count(.error), count(.warning))
        guard errors + warnings > 0 else {
            return "No problems found in \(Self.number(findings.count, "check"))."
        }
        return "\(Self.number(errors, "error")), \(Self.number(warnings, "warning")); "
            + "\(Self.number(findings.count, "check")) in total."
    }

    /// Returns a count with its noun, such as `1 relay` or `2 relays`.
    static func number(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }

    var json: JSONValue {
        [
            "file": .string(file), "errors": .integer(Int64(count(.error))),
            "warnings": .integer(Int64(count(.warning))), "findings": .array(findings.map(Self.json)),
        ]
    }

    private static func json(_ finding: Finding) -> JSONValue {
        var object: JSONObject = [
            "level": .string(finding.level.rawValue), "subject": .string(finding.subject),
            "check": .string(finding.check), "text": .string(finding.text),
        ]
        if let advice = finding.advice { object["advice"] = .string(advice) }
        return .object(object)
    }
}
