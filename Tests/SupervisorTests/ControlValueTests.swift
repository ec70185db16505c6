import Foundation
import Testing

@testable import Supervisor

struct ControlValueTests {
    private static let texts: [(String, ControlValue)] = [
        ("null", .null), ("true", true), ("-3", -3), ("9223372036854775807", .integer(.max)), ("0.5", .number(0.5)),
        (#""a\/\"b""#, "a/\"b"), ("[]", []), (#"[1,[2],{}]"#, [1, [2], [:]]),
        (#"{"b":null,"a":{"c":"é"}}"#, ["a": ["c": "é"], "b": nil]),
    ]

    @Test(arguments: texts)
    func parsesEveryType(text: String, value: ControlValue) {
        #expect(ControlValue(json: text) == value)
        #expect(ControlValue(json: value.json) == value)
    }

    @Test(arguments: ["", "{", "nil", "[1", "{\"a\":1}x", "\u{0}"])
    func refusesInvalidJSON(text: String) {
        #expect(ControlValue(json: text) == nil)
    }

    @Test func writesOneSortedLine() {
        let value: ControlValue = ["b": "x\ny", "a": [1, nil, .number(.infinity)]]
        #expect(value.json == #"{"a":[1,null,null],"b":"x\ny"}"#)
    }

    @Test func accessesMembersByType() {
        let value: ControlValue = ["n": 7, "s": "t", "f": false, "l": ["x"], "o": [:]]
        #expect(value["n"]?.integer == 7)
        #expect(value["s"]?.string == "t")
        #expect(value["f"]?.bool == false)
        #expect(value["l"]?.array == ["x"])
        #expect(value["o"]?.object == [:])
        #expect(value["none"] == nil)
        #expect(value["n"]?["x"] == nil)
    }
}

struct WorkerLineTests {
    @Test(arguments: [
        (#"{"status":"ready","pubkey":"aa"}"#, WorkerLine.status(.ready)),
        (#"{"event":"message"}"#, .event),
        (#"{"answer":7,"error":"no"}"#, .answer(.init(id: 7, outcome: .failure(.init(text: "no"))))),
        (#"{"answer":7,"result":[1,"a/b"]}"#, .answer(.init(id: 7, outcome: .success(Data(#"[1,"a/b"]"#.utf8))))),
        (#"{"answer":7,"result":null}"#, .answer(.init(id: 7, outcome: .success(Data("null".utf8))))),
        (#"{"answer":7}"#, .unrecognised), (#"{"answer":"7","result":1}"#, .unrecognised),
        (#"{"status":"odd"}"#, .unrecognised), (#"{"status":"odd","event":"x"}"#, .unrecognised),
        (#"{"event":3}"#, .unrecognised), ("[]", .unrecognised), ("", .unrecognised), ("{", .unrecognised),
    ])
    func lines(text: String, line: WorkerLine) {
        #expect(WorkerLine(text) == line)
    }
}
