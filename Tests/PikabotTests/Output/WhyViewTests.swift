import Nostr
import Testing

@testable import BotProgram

struct WhyViewTests {
    private let known: JSONValue = [
        "events": [["id": "ab"]], "waiting_since": [], "lines": ["event ab", "  it is so"],
    ]
    private let unknown: JSONValue = ["events": [], "waiting_since": [], "lines": ["Nothing is known"]]
    private let waiting: JSONValue = ["events": [], "waiting_since": [5], "lines": ["It came"]]

    @Test func showsSingleAccount() {
        #expect(WhyView(known, of: "greeter").text == "account greeter\n  event ab\n    it is so")
        #expect(WhyView(waiting, of: "greeter").text == "account greeter\n  It came")
        #expect(WhyView(unknown, of: "greeter").text == "Nothing is known")
    }

    @Test func omitsAccountsWithoutEntries() {
        let result: JSONValue = [
            "b": ["result": known], "a": ["result": unknown], "c": ["error": "it does not answer"],
        ]
        #expect(
            WhyView(result, of: nil).text
                == "account c: it does not answer\naccount b\n  event ab\n    it is so")
    }

    @Test func failsIfAllRefuse() {
        let refused: JSONValue = ["error": "expected an event id"]
        let same = WhyView(["a": refused, "b": refused], of: nil)
        #expect(same.isFailure)
        #expect(same.text == "expected an event id")
        let different = WhyView(["a": refused, "b": ["error": "it does not answer"]], of: nil)
        #expect(different.isFailure)
        #expect(different.text == "account a: expected an event id\naccount b: it does not answer")
        let partly = WhyView(["a": refused, "b": ["result": unknown]], of: nil)
        #expect(!partly.isFailure)
        #expect(partly.text == "account a: expected an event id\nNothing is known")
        #expect(WhyView([:], of: nil).isFailure)
        #expect(!WhyView(unknown, of: "a").isFailure)
    }

    @Test func handlesUnknownAndStoppedAccounts() {
        #expect(WhyView(["a": ["result": unknown], "b": ["result": unknown]], of: nil).text == "Nothing is known")
        #expect(WhyView([:], of: nil).text == "no account is running")
        #expect(WhyView(.null, of: nil).text == "no account is running")
    }
}
