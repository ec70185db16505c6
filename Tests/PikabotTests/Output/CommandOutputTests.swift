import BotProgram
import Nostr
import Testing

@testable import pikabot

@Suite struct CommandOutputTests {
    @Test func printsOneJSONMemberPerLine() {
        let value: JSONValue = ["a": 1, "b": [true, nil], "c": [], "d": ["e": "\n"], "f": [:]]
        let text = """
            {
              "a": 1,
              "b": [
                true,
                null
              ],
              "c": [],
              "d": {
                "e": "\\n"
              },
              "f": {}
            }
            """
        #expect(value.prettyText == text)
    }

    @Test func formatsShortDurations() {
        #expect(Duration.milliseconds(42).inMilliseconds == "42 ms")
        #expect(Duration.microseconds(4200).inMilliseconds == "4.2 ms")
        #expect(Duration.milliseconds(1234).inSeconds == "1.23 s")
    }

    @Test func summaryCountsAnswers() {
        let summary = DemoSummary()
        #expect(summary.text(after: .seconds(1)) == "no answers")
        for milliseconds in [30, 10, 20] { summary.add(.echo, .milliseconds(milliseconds)) }
        summary.add(.refusal, .milliseconds(40))
        #expect(
            summary.text(after: .seconds(1))
                == "Done in 1.00 s: 3 messages echoed, 0 commits announced, 1 call refused; "
                + "answers took 10 ms to 40 ms, median 30 ms.")
    }
}
