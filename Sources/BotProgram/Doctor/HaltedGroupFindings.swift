import Diagnosis
import Nostr

/// Groups of the second generation whose history an account cannot follow, as reported by the running worker.
struct HaltedGroupFindings: Sendable {
    /// The supervisor's answer to `status`; nil if none runs.
    let status: JSONValue?

    func run(account: String, subject: String) -> [Finding] {
        let worker = status?["workers"]?.array?.first { $0["name"]?.string == account }
        guard let groups = worker?["worker"]?["haltedGroups"]?.array else { return [] }
        var findings = FindingList(subject)
        for group in groups {
            findings.warning("history", StatusView.text(ofHaltedGroup: group), Self.advice(group["state"]?.string))
        }
        if groups.isEmpty { findings.ok("history", "the account follows the history of each of its groups") }
        return findings.all
    }

    private static func advice(_ state: String?) -> String {
        state == "blocked"
            ? "wait; if the group stays blocked, let an admin remove the member that floods it with commits"
            : "let an admin remove the account from the group and invite it again"
    }
}
