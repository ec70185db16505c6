import Testing

@testable import Nostr

/// One line of BIP-340's test-vectors.csv.
private struct Line {
    let secretKey: [UInt8]
    let publicKey: PublicKey
    let auxiliary: Bytes32?
    let message: [UInt8]
    let signature: Signature
    let isValid: Bool

    init(_ text: Substring) throws {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        secretKey = try #require(Hex.decode(fields[1]))
        publicKey = try PublicKey(hex: String(fields[2]))
        auxiliary = Bytes32(hex: String(fields[3]))
        message = try #require(Hex.decode(fields[4]))
        signature = try Signature(hex: String(fields[5]))
        isValid = fields[6] == "TRUE"
    }

    static func all() throws -> [Line] {
        let text = String(decoding: try Vectors.bytes("bip340.csv"), as: UTF8.self)
        return try text.split(whereSeparator: \.isNewline).dropFirst().map(Line.init)
    }
}

@Test func schnorrVerifiesBIP340Vectors() throws {
    let lines = try Line.all()
    #expect(lines.count == 19)
    for line in lines {
        #expect(Schnorr.isValid(line.signature, message: line.message, key: line.publicKey) == line.isValid)
    }
}

@Test func schnorrSignsBIP340Vectors() throws {
    let lines = try Line.all().filter { !$0.secretKey.isEmpty }
    #expect(lines.count == 8)
    for line in lines {
        let key = try KeyPair(secretKey: line.secretKey)
        #expect(key.publicKey == line.publicKey)
        #expect(Schnorr.sign(line.message, with: key, auxiliary: try #require(line.auxiliary)) == line.signature)
    }
}
