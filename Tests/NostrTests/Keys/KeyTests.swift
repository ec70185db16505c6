import Nostr
import Testing

private let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"

@Test func refusesSecretKeysOutOfRange() throws {
    let zero = [UInt8](repeating: 0, count: 32)
    let n = try #require(Hex.decode(order))
    for wrong in [zero, n, [UInt8](repeating: 0xff, count: 32), [], Array(n.dropLast()), [0] + n] {
        #expect(code { _ = try KeyPair(secretKey: wrong) } == .invalidSecretKey)
    }
    var last = n
    last[31] -= 1
    #expect(try KeyPair(secretKey: last).secretBytes == last)
}

@Test func readsKeysFromUserInput() throws {
    // The examples of NIP-19.
    let pair = try KeyPair(parsing: "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5")
    #expect(Hex.encode(pair.secretBytes) == "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa")
    #expect(pair.nsec == "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5")
    #expect(try KeyPair(parsing: Hex.encode(pair.secretBytes)).publicKey == pair.publicKey)
    #expect(pair.publicKey.hex == "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e")
    let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
    #expect(try PublicKey(parsing: npub) == pair.publicKey)
    #expect(try PublicKey(parsing: npub.uppercased()) == pair.publicKey)
    #expect(pair.publicKey.npub == npub)
    #expect(try PublicKey(parsing: pair.publicKey.hex) == pair.publicKey)
}

@Test func invalidKeyInputHasErrorCodes() throws {
    #expect(code { _ = try PublicKey(parsing: "") } == .invalidHex)
    #expect(code { _ = try PublicKey(parsing: "npub1") } == .invalidBech32)
    #expect(code { _ = try PublicKey(parsing: String(repeating: "f", count: 64)) } == .invalidPublicKey)
    #expect(
        code { _ = try PublicKey(parsing: "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5") }
            == .invalidHex)
    #expect(code { _ = try KeyPair(parsing: "hello") } == .invalidHex)
    #expect(code { _ = try KeyPair(parsing: "00") } == .invalidSecretKey)
    #expect(
        code { _ = try KeyPair(parsing: "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe6") }
            == .invalidBech32)
    #expect(code { _ = try PublicKey(bytes: [1]) } == .invalidLength)
    #expect(code { _ = try Signature(bytes: [1]) } == .invalidLength)
    #expect(code { _ = try Signature(hex: "00") } == .invalidHex)
    #expect(code { _ = try EventID(hex: "zz") } == .invalidHex)
    #expect(code { _ = try EventID(bytes: []) } == .invalidLength)
}

@Test func offCurveKeysAreDetected() throws {
    let key = try PublicKey(hex: String(repeating: "f", count: 64))
    #expect(!key.isOnCurve)
    #expect(code { _ = try PublicKey(validating: key.bytes) } == .invalidPublicKey)
    #expect(Samples.key(3).publicKey.isOnCurve)
}

@Test func generatedKeysAreDeterministic() {
    #expect(Samples.key(7).publicKey == Samples.key(7).publicKey)
    #expect(Samples.key(7).publicKey != Samples.key(8).publicKey)
}

@Test func keyDescriptionsHideSecrets() throws {
    let pair = Samples.key(4)
    let secret = Hex.encode(pair.secretBytes)
    var dumped = ""
    dump(pair, to: &dumped)
    for text in ["\(pair)", String(describing: pair), String(reflecting: pair), dumped] {
        #expect(!text.contains(secret))
        #expect(!text.contains(pair.nsec))
    }
    do {
        _ = try KeyPair(parsing: "nsec1" + secret)
    } catch {
        #expect(!"\(error)".contains(secret))
    }
}
