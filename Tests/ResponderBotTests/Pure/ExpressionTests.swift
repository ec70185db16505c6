import LiveTesting
import Testing

@testable import ResponderBot

struct ExpressionTests {
    @Test func extractsCaptureGroups() throws {
        let expression = try Expression("(?i)\\bweather in (\\w+)( tomorrow)?")
        #expect(expression.groups == 2)
        #expect(expression.search("the Weather in Bern?") == .found(["Weather in Bern", "Bern", ""]))
        #expect(expression.search("weather") == .missed)
        #expect(expression.search("") == .missed)
    }

    @Test func splitsSupplementaryCharactersCorrectly() throws {
        #expect(try Expression("(.)b(.)").search("a👩‍🚀b🇨🇭") == .found(["\u{1F680}b\u{1F1E8}", "\u{1F680}", "\u{1F1E8}"]))
    }

    @Test(arguments: ["(", "[a", "a{2,1}", "(?<x", "*"])
    func wrongPatternsThrow(_ pattern: String) {
        #expect(throws: (any Error).self) { try Expression(pattern) }
    }

    /// Each of these would keep the engine busy beyond any acceptable time.
    @Test(

        .live,
        arguments: [
            ("(a+)+$", "a"), ("(a|aa)+$", "a"), ("(.*)*(.*)*(.*)*(.*)*=", "a"), ("^(([a-z])+.)+[A-Z]([a-z])+$", "a"),
            ("(x+x+)+y", "x"), ("(?:a?){40}a{40}b", "a"),
        ])
    func hostileTextEndsInTime(_ pattern: String, _ letter: String) throws {
        let expression = try Expression(pattern)
        let outcome = expression.search(String(repeating: letter, count: Expression.maximumLength - 1) + "!")
        if case .found = outcome { Issue.record("expected no match") }
    }

    @Test func abortsSlowSearches() throws {
        let text = String(repeating: "a", count: 60) + "!"
        #expect(try Expression("(a+)+$").search(text) == .tookTooLong)
    }

    @Test func skipsLongMessages() throws {
        let expression = try Expression("a")
        #expect(expression.search(String(repeating: "a", count: Expression.maximumLength)) == .found(["a"]))
        #expect(expression.search(String(repeating: "a", count: Expression.maximumLength + 1)) == .tooLong)
    }
}
