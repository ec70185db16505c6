import ArgumentParser
import Nostr
import Testing

@testable import BotProgram

struct QuarantineViewTests {
    private let event: JSONValue = [
        "subject": "event/5f", "scope": "group/3a", "stage": "ingest", "deaths": 2, "since": 7, "event": nil,
        "released": false,
    ]
    private let frame: JSONValue = [
        "subject": "frame/77", "scope": nil, "stage": "decode", "deaths": 3, "since": 7, "event": "abcd",
        "released": true,
    ]

    @Test func namesEveryEntry() {
        #expect(
            QuarantineView(["entries": [event, frame]], of: "a").text == """
                a: event/5f of group/3a, after 2 crashes (ingest)
                a: frame/77, which claims to be event abcd, after 3 crashes (decode); released, active again after a restart
                """)
        #expect(QuarantineView(["entries": []], of: "a").text == "nothing is quarantined")
    }

    @Test func namesTheAccounts() {
        let result: JSONValue = [
            "b": ["result": ["entries": [event]]], "a": ["result": ["entries": []]], "c": ["error": "no answer"],
        ]
        let view = QuarantineView(result, of: nil)
        #expect(view.text == "account c: no answer\nb: event/5f of group/3a, after 2 crashes (ingest)")
        #expect(!view.isFailure)
        #expect(QuarantineView(["a": ["error": "no answer"]], of: nil).isFailure)
        #expect(!QuarantineView([:], of: nil).isFailure)
    }

    @Test func statusAndWhyShowIt() {
        let status: JSONValue = [
            "workers": [["name": "a", "state": "ready", "worker": ["quarantine": [event]]]]
        ]
        #expect(
            StatusView(result: status).text.contains("a: quarantined: event/5f of group/3a, after 2 crashes (ingest)"))
        let why: JSONValue = ["events": [], "waiting_since": [], "quarantine": [event], "lines": ["set aside"]]
        #expect(WhyView(why, of: "a").text == "account a\n  set aside")
    }

    @Test(arguments: [["f", "--release", "x"], ["f", "a", "--release", "x", "--drop", "y"], ["f", "--drop", "x"]])
    func refusesAmbiguousOrders(arguments: [String]) {
        #expect(throws: (any Error).self) { try BotProgram.Quarantine.parse(arguments) }
    }

    @Test func acceptsOneOrder() throws {
        #expect(try BotProgram.Quarantine.parse(["f", "a", "--release", "x"]).release == "x")
        #expect(try BotProgram.Quarantine.parse(["f"]).account == nil)
    }
}
