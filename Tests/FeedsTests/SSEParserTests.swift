import Testing

@testable import FeedRules
@testable import Feeds

struct SSEParserTests {
    private func parse(_ text: String, limit: Int = 100) -> [SSEParser.Output] {
        var parser = SSEParser(maximumBytes: limit)
        return parser.append(Array(text.utf8))
    }

    @Test func parsesEvents() {
        let text = "\u{FEFF}: comment\ndata: one\ndata:two\nid: 7\nevent: note\n\ndata\n\n"
        #expect(
            parse(text) == [
                .event(type: "note", data: "one\ntwo", id: "7", lastID: "7"),
                .event(type: "message", data: "", id: nil, lastID: "7"),
            ])
    }

    /// The result does not depend on where the stream is split.
    @Test(arguments: ["\n", "\r", "\r\n"])
    func acceptsEverySplit(ending: String) {
        let lines = ["data: a", "id: 1", "", "retry: 250", "event: x", "data:  b", "", ""]
        let bytes = Array(lines.joined(separator: ending).utf8)
        let expected = parse(lines.joined(separator: "\n"))
        #expect(expected.count == 3)
        for split in 0...bytes.count {
            var parser = SSEParser(maximumBytes: 100)
            let first = parser.append(bytes[..<split])
            let second = parser.append(bytes[split...])
            #expect(first + second == expected)
        }
    }

    @Test func ignoresUnfinishedEvent() {
        #expect(parse("data: a\nid: 3\n") == [])
        var parser = SSEParser(maximumBytes: 10, lastID: "2")
        let outputs = parser.append(Array("event: x\n\n".utf8))
        #expect(outputs == [] && parser.lastID == "2")
    }

    @Test func ignoresInvalidFields() {
        #expect(parse("retry: 1x\nretry:\nretry: 99999999999999999999\nid: a\0b\nunknown: 1\n\n") == [])
        #expect(parse("id\ndata: x\n\n") == [.event(type: "message", data: "x", id: nil, lastID: "")])
    }

    @Test func dropsOversizedEvents() {
        #expect(
            parse("data: 12345\ndata: 6\n\ndata: 12345\n\n", limit: 5) == [
                .tooLarge, .event(type: "message", data: "12345", id: nil, lastID: ""),
            ])
        let long = String(repeating: "x", count: 5_000)
        #expect(
            parse("data: \(long)\n\nevent: \(long)\ndata: a\n\n", limit: 5) == [
                .tooLarge, .event(type: "message", data: "a", id: nil, lastID: ""),
            ])
    }

    @Test func replacesInvalidText() {
        var parser = SSEParser(maximumBytes: 10)
        let bytes = Array("data: ".utf8) + [0xFF] + Array("\n\n".utf8)
        let outputs = parser.append(bytes)
        #expect(outputs == [.event(type: "message", data: "\u{FFFD}", id: nil, lastID: "")])
    }
}
