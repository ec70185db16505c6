import BotKit
import Testing

private enum Mood: String, CaseIterable {
    case quiet, loud
}

private func problems(
    _ settings: BotSettings, _ read: (SettingsReader) -> Void
) -> [BotSettingsError.Problem] {
    let reader = SettingsReader(settings)
    read(reader)
    do {
        try reader.finish()
        return []
    } catch { return error.problems }
}

struct SettingsReaderTests {
    private let settings = BotSettings.object([
        "text": .string("hi"), "number": .int(7), "half": .double(0.5), "yes": .bool(true), "wait": .string("5m"),
        "mood": .string("loud"), "list": .array([.string("a"), .int(1)]),
        "key": .string(PublicKeyText.npub), "rules": .array([.object(["a": .int(1)]), .object(["a": .int(2)])]),
        "inner": .object(["x": .string("y")]),
    ])

    @Test func readsEveryType() throws {
        let reader = SettingsReader(settings)
        #expect(reader.string("text") == "hi")
        #expect(reader.string("number") == "7")
        #expect(reader.int("number", in: 1...7) == 7)
        #expect(reader.double("half", in: 0...1) == 0.5)
        #expect(reader.bool("yes") == true)
        #expect(reader.duration("wait") == .seconds(300))
        #expect(reader.choice("mood", of: Mood.self) == .loud)
        #expect(reader.strings("list") == ["a", "1"])
        #expect(reader.publicKey("key")?.npub == PublicKeyText.npub)
        #expect(reader.list("rules") { $0.int("a") } == [1, 2])
        #expect(reader.object("inner")?.string("x") == "y")
        #expect(reader.string("absent") == nil)
        #expect(reader.string("absent", default: "z") == "z")
        #expect(reader.int("absent", default: 3) == 3)
        #expect(reader.duration("absent", default: .seconds(1)) == .seconds(1))
        #expect(reader.choice("absent", default: Mood.quiet) == .quiet)
        #expect(reader.list("absent") { $0.int("a") }.isEmpty)
        try reader.finish()
    }

    @Test func reportsAllProblemsAtOnce() {
        let wrong = BotSettings.object([
            "number": .int(11), "mood": .string("lout"), "wait": .string("5 minutes"), "list": .string("a"),
            "rules": .array([.object(["when": .object(["comand": .string("ping")])]), .string("x")]),
        ])
        let found = problems(wrong) { reader in
            _ = reader.string("name", required: true)
            _ = reader.int("number", in: 1...10)
            _ = reader.choice("mood", of: Mood.self)
            _ = reader.duration("wait")
            _ = reader.strings("list")
            _ = reader.list("rules") { rule in rule.object("when")?.string("command", required: true) }
        }
        #expect(
            found.map(\.description) == [
                "with: expected the key name, found none; add name: …",
                "number: expected a whole number from 1 to 10, found \"11\"; write a number in this range",
                "mood: expected one of quiet, loud, found \"lout\"; write loud",
                "wait: expected a duration, found \"5 minutes\"; write a number and one of ms, s, m, h, d, such as 10s",
                "list: expected a list of strings, found \"a\"; write list: [ … ]",
                "rules[0].when: expected the key command, found none; add command: …",
                "rules[1]: expected a mapping, found \"x\"; write it as { key: value }",
                "rules[0].when.comand: expected command, found the unknown key \"comand\"; write command",
            ])
    }

    @Test(arguments: [
        ("ten", "a duration"), ("10", "a duration"), ("-1s", "a duration"), ("1.5s", "a duration"),
        ("0s", "a duration above zero"), ("3651d", "a duration of at most 3650d"),
        ("99999999999999999999s", "a duration of at most 3650d"),
    ])
    func durationErrorNamesTheFault(text: String, expected: String) {
        let found = problems(.object(["wait": .string(text)])) { _ = $0.duration("wait") }
        #expect(found.map(\.expected) == [expected])
    }

    @Test func unknownKeySuggestsNearest() {
        let found = problems(.object(["colour": .int(1), "zzz": .int(2)])) { reader in
            _ = reader.string("color")
            _ = reader.string("size")
        }
        #expect(found.map(\.fix) == ["write color", "remove it"])
        #expect(found.map(\.expected) == ["one of color, size", "one of color, size"])
    }

    @Test func rejectsNullAndOtherTypes() {
        #expect(problems(.null) { _ in }.isEmpty)
        #expect(problems(.array([])) { _ in }.map(\.found) == ["a list"])
        #expect(problems(.object(["a": .null])) { _ = $0.string("a") }.map(\.found) == ["nothing"])
        #expect(problems(.object(["a": .string("")])) { _ = $0.string("a") }.map(\.found) == ["\"\""])
    }

    @Test func redactsKeys() {
        let nsec = "nsec1" + String(repeating: "q", count: 58)
        let hex = String(repeating: "0f", count: 32)
        for secret in [nsec, hex] {
            let found = problems(.object(["n": .string(secret)])) { _ = $0.int("n") }
            #expect(found.map(\.found) == ["a value that looks like a key (not shown)"])
        }
    }

    @Test func reportsMissingValues() throws {
        #expect(try SettingsReader(.object([:])).finish(5) == 5)
        #expect(throws: BotSettingsError.self) { try SettingsReader(.object([:])).finish(Int?.none) }
    }
}

private enum PublicKeyText {
    /// The key of NIP-19's example.
    static let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
}
