import Diagnosis
import Nostr
import Testing

@testable import BotProgram

struct HaltedGroupFindingsTests {
    private func status(_ groups: [JSONValue]) -> JSONValue {
        ["workers": [["name": "greeter", "state": "ready", "worker": ["haltedGroups": .array(groups)]]]]
    }

    private func group(_ state: String, _ reason: String) -> JSONValue {
        ["chat": "9b1d00aa9b1d00aa", "state": .string(state), "reason": .string(reason)]
    }

    private func findings(_ status: JSONValue?) -> [Finding] {
        HaltedGroupFindings(status: status).run(account: "greeter", subject: "account greeter")
    }

    @Test(arguments: [("blocked", "floods"), ("unrecoverable", "invite it again")])
    func haltedGroupHasAdvice(state: String, advice: String) throws {
        let finding = try #require(findings(status([group(state, "why")])).first)
        #expect(finding.level == .warning && finding.check == "history")
        #expect(finding.text == "cannot follow the history of chat 9b1d00aa: \(state) (why)")
        #expect(finding.advice?.contains(advice) == true)
    }

    @Test func workerWithoutHaltedGroupsIsFine() {
        #expect(findings(status([])).map(\.level) == [.ok])
        #expect(findings(nil).isEmpty && findings(["workers": []]).isEmpty)
    }

    @Test func statusShowsHaltedGroups() {
        let text = StatusView(result: status([group("unrecoverable", "why")])).text
        #expect(text.contains("greeter: cannot follow the history of chat 9b1d00aa: unrecoverable (why)"))
    }
}
