import Nostr
import Testing

private func parse(_ text: String) throws -> JSONValue { try JSONValue(json: text) }

@Test func jsonReadsEveryValueType() throws {
    let value = try parse(" {\"a\" : [1, -2.5e1, true, false, null, \"x\"] , \"b\":{}}\n")
    #expect(value["a"]?.array == [1, .number(-25), true, false, nil, "x"])
    #expect(value["b"]?.object?.members.isEmpty == true)
    #expect(value["c"] == nil)
    #expect(value["a"]?.array?[1].double == -25)
    #expect(value.jsonText == "{\"a\":[1,-25.0,true,false,null,\"x\"],\"b\":{}}")
}

@Test func jsonRefusesTextOutsideRFC8259() {
    let malformed = [
        "[1,]", "[,1]", "{,}", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{1:1}", "[1 2]", "01", "-01", "+1", ".5", "1.",
        "1.e1", "1e",
        "0x10", "NaN", "Infinity", "-Infinity", "tru3", "nul ", "True", "'a'", "[1]]", "1 2", "{}{}", "\"\\x\"",
        "\"\\u12g4\"", "\"\u{1}\"", "\"a\nb\"", "\"a\tb\"", "/*c*/1", "\u{feff}1", "-", "-x", "]", "}", ":", ",",
    ]
    for text in malformed {
        let found = code { _ = try parse(text) }
        #expect(found == .malformedJSON || found == .truncatedJSON, "\(text)")
    }
    for text in ["1.", "1e", "-"] { #expect(code { _ = try parse(text) } == .truncatedJSON) }
}

@Test func jsonRefusesTruncationAtEveryByte() throws {
    let text = "{\"a\":[1,-2.5e+10,true,false,null,\"x\\n\\u00e9\\ud83d\\ude00é\"],\"b\":{\"c\":{}}}"
    let bytes = Array(text.utf8)
    _ = try JSONValue(json: bytes)
    for length in 0..<bytes.count {
        let found = code { _ = try JSONValue(json: bytes[..<length]) }
        #expect(found == .truncatedJSON, "\(length)")
    }
}

@Test func jsonStringsDecodeEscapes() throws {
    #expect(
        try parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u6f22\\uD83D\\uDE00\\u0000\"").string
            == "\"\\/\u{8}\u{c}\n\r\tAé漢😀\u{0}")
}

@Test func jsonRefusesUnpairedSurrogates() {
    for text in [
        "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800x\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\\udc00\\ud800\"",
    ] {
        #expect(code { _ = try parse(text) } == .malformedJSON, "\(text)")
    }
}

@Test func jsonRefusesInvalidUTF8() {
    let wrong: [[UInt8]] = [
        [0x80], [0xc3], [0xc0, 0xaf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff],
        [0xf0, 0x9f, 0x98],
    ]
    for bytes in wrong {
        #expect(code { _ = try JSONValue(json: [0x22] + bytes + [0x22]) } == .malformedJSON)
        #expect(code { _ = try JSONValue(json: Array("\"\\n".utf8) + bytes + [0x22]) } == .malformedJSON)
        #expect(code { _ = try JSONValue(json: Array("{\"".utf8) + bytes + Array("\":1}".utf8)) } == .malformedJSON)
    }
}

@Test func jsonNumbersAreExactOrRefused() throws {
    #expect(try parse("9223372036854775807").integer == .max)
    #expect(try parse("-9223372036854775808").integer == .min)
    #expect(try parse("-0").integer == 0)
    #expect(try parse("1e3") == .number(1000))
    for text in ["9223372036854775808", "-9223372036854775809", String(repeating: "9", count: 400), "1e999", "-1e999"] {
        #expect(code { _ = try parse(text) } == .numberOutOfRange, "\(text)")
    }
}

@Test func jsonDepthIsLimited() throws {
    let limit = JSONValue.maximumDepth
    _ = try parse(String(repeating: "[", count: limit) + String(repeating: "]", count: limit))
    #expect(code { _ = try parse(String(repeating: "[", count: limit + 1)) } == .jsonTooDeep)
    #expect(code { _ = try parse(String(repeating: "{\"a\":", count: 100_000)) } == .jsonTooDeep)
    let deep = String(repeating: "[", count: 100_000)
    #expect(code { _ = try Filter(json: Array("{\"x\":\(deep)".utf8)) } == .jsonTooDeep)
}

@Test func firstRepeatedJSONMemberWins() throws {
    let value = try parse("{\"a\":1,\"b\":2,\"a\":3}")
    #expect(value["a"] == 1)
    #expect(value.jsonText == "{\"a\":1,\"b\":2}")
}

@Test func jsonObjectsKeepMemberOrder() {
    var object: JSONObject = ["z": 1, "a": "x"]
    object["m"] = .null
    object["z"] = 2
    object["a"] = nil
    #expect(JSONValue.object(object).jsonText == "{\"z\":2,\"m\":null}")
    #expect(JSONValue.number(.nan).jsonText == "null")
    #expect(JSONValue.string("\u{0}\u{1f}\u{7f}/").jsonText == "\"\\u0000\\u001f\u{7f}/\"")
}
