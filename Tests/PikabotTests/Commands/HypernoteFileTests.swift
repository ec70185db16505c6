import ArgumentParser
import PikaCore
import Testing

@testable import pikabot

@Suite struct HypernoteFileTests {
    @Test func fileMayBeginWithTitleAndState() throws {
        let text = """

            ```hnmd
            {"title": "Poll", "state": {"name": "Alice"}}
            ```

            # Lunch?
            <SubmitButton action="yes">Yes</SubmitButton>

            """
        let note = try HypernoteFile.parse(text, name: "poll.hnmd")
        let content = "# Lunch?\n<SubmitButton action=\"yes\">Yes</SubmitButton>\n"
        #expect(note == Hypernote(content: content, title: "Poll", state: #"{"name":"Alice"}"#))
        #expect(try HypernoteFile.parse("# a\n```hnmd\n", name: "f") == Hypernote(content: "# a\n```hnmd\n"))
    }

    @Test(arguments: [
        ("```hnmd\n{}", "is not closed"), ("```hnmd\n{}\n", "is not closed"), ("```hnmd\n[]\n```\nx", "JSON object"),
        ("```hnmd\n{\n```\nx", "JSON object"), ("```hnmd\n{}\n```\n", "expected text"), ("```hnmd", "JSON object"),
        ("```hnmd\n{\"state\": 1}\n```\nx", "must be a JSON object"),
    ])
    func refusesWrongFiles(text: String, reason: String) {
        let error = #expect(throws: (any Error).self) { try HypernoteFile.parse(text, name: "f") }
        #expect(String(describing: error).contains(reason))
    }
}
