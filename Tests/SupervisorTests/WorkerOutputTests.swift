import Testing

@testable import Supervisor

struct WorkerOutputTests {
    func split(_ parts: [String], limit: Int = 100) -> [String] {
        var splitter = LineSplitter(limit: limit)
        var lines: [String] = []
        for part in parts {
            lines += Array(part.utf8).withUnsafeBytes { splitter.append($0) }
        }
        if let last = splitter.finish() { lines.append(last) }
        return lines
    }

    @Test func splitsLinesAcrossReads() {
        let text = "one\n\ntwo\r\nthrée"
        #expect(split([text]) == ["one", "", "two", "thrée"])
        var splitter = LineSplitter()
        var lines: [String] = []
        for byte in text.utf8 {
            let completed = [byte].withUnsafeBytes { splitter.append($0) }
            lines += completed
        }
        #expect(lines == ["one", "", "two"])
        #expect(splitter.finish() == "thrée")
        #expect(splitter.finish() == nil)
    }

    @Test func truncatesLongLines() {
        #expect(split(["abcdefgh\nij\n"], limit: 4) == ["abcd", "ij"])
        #expect(split(["abc", "def", "ghi\nj"], limit: 4) == ["abcd", "j"])
    }

    @Test func emptyInputHasNoLines() {
        #expect(split([]) == [])
        #expect(split([""]) == [])
        #expect(split(["\n"]) == [""])
    }

    @Test(arguments: [
        (#"{"status":"starting"}"#, WorkerLine.status(.starting)),
        (#"{"status":"ready","relays":2}"#, .status(.ready)),
        (#"{"status":"draining"}"#, .status(.draining)),
        (#"{"event":"message","text":"hi"}"#, .event),
        (#"{"status":"ready","event":"x"}"#, .status(.ready)),
        (#"{"status":"flying"}"#, .unrecognised),
        (#"{"status":"flying","event":"x"}"#, .unrecognised),
        (#"{"status":7}"#, .unrecognised),
        (#"{"other":1}"#, .unrecognised),
        (#"["event"]"#, .unrecognised),
        (#"{"event":"#, .unrecognised),
        ("hello", .unrecognised),
        ("", .unrecognised),
    ])
    func parsesStatusAndEvents(line: String, expected: WorkerLine) {
        #expect(WorkerLine(line) == expected)
    }
}
