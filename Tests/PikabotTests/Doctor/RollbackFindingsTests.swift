import Diagnosis
import Nostr
import Testing

@testable import BotProgram

struct RollbackFindingsTests {
    private static let npub = "npub10w77l03zmk89na8xqqrsf2j3ea5hx2wurflywl2en0rhm5uctqlqz5c0dk"

    private func status(_ storms: [JSONValue]) -> JSONValue {
        ["workers": [["name": "greeter", "state": "ready", "worker": ["rollbackStorms": .array(storms)]]]]
    }

    private let storm: JSONValue = [
        "chat": "9b1d00aa9b1d00aa", "committer": .string(Self.npub), "role": "removed", "count": 37, "age": 61,
    ]

    private func findings(_ status: JSONValue?) -> [Finding] {
        RollbackFindings(status: status).run(account: "greeter", subject: "account greeter")
    }

    @Test func namesCommitterOfStorm() throws {
        let finding = try #require(findings(status([storm])).first)
        #expect(finding.level == .warning && finding.check == "rollbacks")
        #expect(
            finding.text
                == "\(Self.npub), a removed member, has rolled back commits of chat 9b1d00aa 37 times, last 1min 1s ago"
        )
        #expect(finding.advice?.contains("docs/security.md") == true)
    }

    @Test func quietGroupsHaveNoFinding() {
        #expect(findings(status([])).map(\.level) == [.ok])
    }

    @Test func stoppedWorkerHasNoFinding() {
        #expect(findings(nil).isEmpty)
        #expect(findings(["workers": []]).isEmpty)
    }

    @Test func reportsUnreachableSupervisor() {
        var findings = RollbackFindings(status: nil)
        findings.failure = "permission denied"
        #expect(findings.run(account: "greeter", subject: "account greeter").map(\.level) == [.warning])
    }

    @Test func statusShowsCommitter() {
        #expect(
            StatusView(result: status([storm])).text.contains(
                "greeter: \(Self.npub), a removed member, has rolled back"))
    }
}
