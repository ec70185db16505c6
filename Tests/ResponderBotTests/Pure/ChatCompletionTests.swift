import BotKit
import Testing

@testable import ResponderBot

struct ChatCompletionTests {
    @Test func parsesCompletions() {
        let json =
            #"{"id":"x","choices":[{"message":{"role":"assistant","content":"hi"}}],"usage":{"total_tokens":42}}"#
        #expect(ChatCompletion.outcome(of: Array(json.utf8)) == .init(text: "hi", tokens: 42))
        let bare = #"{"choices":[{"message":{"content":"hi"}}]}"#
        #expect(ChatCompletion.outcome(of: Array(bare.utf8)) == .init(text: "hi", tokens: nil))
        let odd = #"{"choices":[{"message":{"content":"hi"}}],"usage":{"total_tokens":-3}}"#
        #expect(ChatCompletion.outcome(of: Array(odd.utf8)) == .init(text: "hi", tokens: nil))
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"choices":[]}"#, #"{"choices":[{"message":{"content":null}}]}"#, "<html>",
        #"{"choices":[{"message":{"content":"hi"}}]} x"#,
    ])
    func refusesInvalidCompletions(_ json: String) {
        #expect(ChatCompletion.outcome(of: Array(json.utf8)) == nil)
    }

    @Test func truncatesLongAnswers() {
        #expect(Answer.text("  a b \n") == "a b")
        #expect(Answer.text(" \n\t ") == "")
        let long = Answer.text(String(repeating: "é", count: 9_000))
        #expect(long.count == Answer.maximumCharacters)
        #expect(long.hasSuffix("é…"))
        #expect(Answer.text([0xff, 0x61]) == "\u{FFFD}a")
    }
}
