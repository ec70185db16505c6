import Testing

@testable import Nostr

@Test func hexReadsBothCasesAndWritesLower() {
    #expect(Hex.decode("00fFAb") == [0x00, 0xff, 0xab])
    #expect(Hex.encode([0x00, 0xff, 0xab]) == "00ffab")
    #expect(Hex.decode("") == [])
    for wrong in ["0", "0g", "é0", " 00", "0x00", "００"] { #expect(Hex.decode(wrong) == nil) }
}

@Test func base64MatchesRFC4648Examples() {
    let examples = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]
    for (length, text) in examples.enumerated() {
        let bytes = Array("foobar".utf8.prefix(length))
        #expect(Base64.encode(bytes) == text)
        #expect(Base64.decode(text) == bytes)
    }
}

@Test func base64RoundTripsEveryByteAndLength() {
    let all = (0...255).map { UInt8($0) }
    for length in 0...256 {
        let bytes = Array(all.prefix(length))
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
}

@Test func base64EncodingIsUnique() {
    // Missing or misplaced padding, blanks, foreign alphabets, and unused bits that are set.
    let wrong = [
        "Zg", "Zg=", "Zg===", "Zm8", "Zm9v=", "=Zg=", "Z===", "====", "Zm=8", "Zg==Zg==", "Zm9 ", "Zm9v\n", "Zm9-",
        "Zm9_",
        "Zm9é", "Zh==", "Zm9=", "Zm\u{0}v",
    ]
    for text in wrong { #expect(Base64.decode(text) == nil, "\(text)") }
}

@Test func bytes32OrdersLexicographically() throws {
    let low = try #require(Bytes32([0] + [UInt8](repeating: 0xff, count: 31)))
    let high = try #require(Bytes32([1] + [UInt8](repeating: 0, count: 31)))
    #expect(low < high)
    #expect(!(high < low))
    let lastDiffers = try #require(Bytes32([0] + [UInt8](repeating: 0xff, count: 30) + [0xfe]))
    #expect(lastDiffers < low)
    for position in 0..<32 {
        var bytes = [UInt8](repeating: 0, count: 32)
        bytes[position] = 1
        let value = try #require(Bytes32(bytes))
        #expect(value.bytes == bytes)
        #expect(value.hex == Hex.encode(bytes))
        #expect(Bytes32(hex: value.hex.uppercased()) == value)
    }
}

@Test func bytes32RefusesOtherLengths() {
    for count in [0, 31, 33, 64] { #expect(Bytes32([UInt8](repeating: 1, count: count)) == nil) }
    #expect(Bytes32(hex: String(repeating: "0", count: 63)) == nil)
    #expect(Bytes32(hex: String(repeating: "0", count: 65)) == nil)
    #expect(Bytes32(hex: String(repeating: "g", count: 64)) == nil)
    #expect(Bytes32(hex: String(repeating: "é", count: 32)) == nil)
}

@Test func hmacMatchesRFC4231() {
    let key = [UInt8](repeating: 0x0b, count: 20)
    let code = key.withUnsafeBytes { HMACSHA256(key: $0) }.code(Array("Hi ".utf8), Array("There".utf8))
    #expect(Hex.encode(code) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
}
