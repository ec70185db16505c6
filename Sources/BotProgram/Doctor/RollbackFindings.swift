import Diagnosis
import Nostr

/// Members who repeatedly roll back the commits of an account's groups, as counted by the running worker.
struct RollbackFindings: Sendable {
    /// The supervisor's answer to `status`; nil if none runs.
    let status: JSONValue?
    /// The reason why the supervisor did not answer although its socket exists.
    var failure: String?

    private static let advice =
        "have an admin remove the member and commit five more times while it is away, or leave the group "
        + "(onRollbackStorm: leave); docs/security.md, Back-dated commits, explains why this is possible"

    /// Queries the supervisor of a configuration, if one runs.
    static func ask(controlPath: String) -> RollbackFindings {
        do {
            guard let socket = try LineSocket(path: controlPath) else { return RollbackFindings(status: nil) }
            try socket.write(JSONValue.object(["command": "status"]).jsonText)
            return RollbackFindings(status: try socket.readLine().map { try JSONValue(json: $0) }?["result"])
        } catch { return RollbackFindings(status: nil, failure: "\(error)") }
    }

    func run(account: String, subject: String) -> [Finding] {
        if let failure {
            return [
                Finding(
                    .warning, subject: subject, check: "rollbacks",
                    "cannot query the running supervisor: \(failure)",
                    advice: "run doctor as the service's user")
            ]
        }
        let worker = status?["workers"]?.array?.first { $0["name"]?.string == account }
        guard let storms = worker?["worker"]?["rollbackStorms"]?.array else { return [] }
        var findings = FindingList(subject)
        for storm in storms { findings.warning("rollbacks", StatusView.text(ofStorm: storm), Self.advice) }
        if storms.isEmpty { findings.ok("rollbacks", "no member repeatedly rolls back commits of its groups") }
        return findings.all
    }
}
