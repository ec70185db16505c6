import Foundation
import Testing

@testable import ConsolePages

struct PageUpdateTests {
    private struct Decoded: Decodable {
        var rev: UInt64
        var parts: [String: String]
        var append: [String: String]
    }

    /// The fields of an event.
    private func decoded(_ update: PageUpdate) throws -> Decoded {
        let lines = update.event.components(separatedBy: "\n")
        #expect(lines.count == 5 && lines[0] == "id: \(update.rev)" && lines[1] == "event: update")
        #expect(lines[3].isEmpty && lines[4].isEmpty)
        return try JSONDecoder().decode(Decoded.self, from: Data(lines[2].dropFirst(6).utf8))
    }

    @Test
    func eventIsOneLine() throws {
        let html: HTML = "<p>\("first\nsecond\r\n\(hostile)")</p>"
        let update = PageUpdate(rev: 9, now: 5, parts: [Page.Part("one", html)])
        let fields = try decoded(update)
        #expect(fields.rev == 9)
        #expect(fields.parts == ["one": html.markup])
        #expect(fields.append.isEmpty)
    }

    @Test
    func logLinesAreAppended() throws {
        let lines = [3, 8].map { LogLine(number: $0, time: 1_000, account: "a", text: "x info y: <b>") }
        let fields = try decoded(PageUpdate(lines: lines, now: 5))
        #expect(fields.rev == 8)
        #expect(fields.append["log-lines"]?.contains("&lt;b&gt;") == true)
    }

    @Test(arguments: [
        ("2026-01-01T00:00:00Z warning core: text", LogLine.Level.warning), ("error: no key", .error),
        (#"{"level":"critical","message":"x"}"#, .critical), ("output of a program", .info), ("", .info),
    ])
    func levelsAreRead(text: String, level: LogLine.Level) {
        #expect(LogLine(number: 1, time: 0, account: "a", text: text).level == level)
    }
}
