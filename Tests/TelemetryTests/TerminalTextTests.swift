import Testing

@testable import Telemetry

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("red \u{1b}[31m", #"red \u001b[31m"#), ("a\nb\r\nc\td", #"a\nb\r\nc\td"#), ("\u{7f}\u{0}", #"\u007f\u0000"#),
        // C1 controls: CSI and NEL.
        ("\u{9b}31m\u{85}", #"\u009b31m\u0085"#), ("a\u{2028}b\u{2029}", #"a\u2028b\u2029"#),
        ("\u{202e}gnp.exe\u{202c}\u{2066}\u{2069}\u{200f}\u{061c}", #"\u202egnp.exe\u202c\u2066\u2069\u200f\u061c"#),
        ("\u{feff}\u{ad}", #"\ufeff\u00ad"#),
        // A tag character, which hides text.
        ("\u{e0041}", #"\udb40\udc41"#),
    ])
    func escapesControls(text: String, expected: String) {
        #expect(text.terminalLine == expected)
        #expect(expected.terminalLine == expected, "escaping must be idempotent")
    }

    @Test(arguments: ["", "plain text", "żółć 日本 🦊", "👩\u{200d}👩\u{200d}👧", "ن\u{200c}ا", "e\u{301}", #"\n"#])
    func keepsText(text: String) {
        #expect(text.terminalLine == text && text.terminalText == text)
    }

    @Test func keepsOwnLineBreaks() {
        #expect("a\nb\u{1b}\n".terminalText == "a\nb\\u001b\n")
        #expect("a\r\nb".terminalText == "a\\r\nb")
    }
}
