import Testing

@testable import Nostr

extension NIP44.ConversationKey {
    fileprivate init(_ bytes: [UInt8]) {
        var bytes = bytes
        self.init(storage: SecretBytes(consuming: &bytes))
    }

    fileprivate var bytes: [UInt8] { storage.withUnsafeBytes { [UInt8]($0) } }
}

private func vectors(_ group: String, _ name: String) throws -> [JSONValue] {
    try #require(try Vectors.json("nip44.vectors.json")["v2"]?[group]?[name]?.array)
}

@Test func nip44DerivesConversationKeys() throws {
    let all = try vectors("valid", "get_conversation_key")
    #expect(all.count == 35)
    for vector in all {
        let key = try NIP44.conversationKey(
            try KeyPair(secretKey: vector.hex("sec1")), try PublicKey(bytes: vector.hex("pub2")))
        #expect(key.bytes == (try vector.hex("conversation_key")))
    }
}

@Test func nip44DerivesMessageKeys() throws {
    let group = try #require(try Vectors.json("nip44.vectors.json")["v2"]?["valid"]?["get_message_keys"])
    let key = NIP44.ConversationKey(try group.hex("conversation_key"))
    let all = try #require(group["keys"]?.array)
    #expect(all.count == 32)
    for vector in all {
        let expected = try vector.hex("chacha_key") + vector.hex("chacha_nonce") + vector.hex("hmac_key")
        let keys = NIP44.MessageKeys(key, nonce: try vector.hex("nonce"))
        #expect(keys.expanded.withUnsafeBytes { [UInt8]($0) } == expected)
    }
}

@Test func nip44PadsToVectorLengths() throws {
    for vector in try vectors("valid", "calc_padded_len") {
        let pair = vector.array?.compactMap { $0.integer } ?? []
        #expect(NIP44.paddedLength(Int(pair[0])) == Int(pair[1]))
    }
    #expect(NIP44.paddedLength(4_294_967_295) == 4_294_967_296)
}

@Test func nip44MatchesVectors() throws {
    let all = try vectors("valid", "encrypt_decrypt")
    #expect(all.count == 10)
    for vector in all {
        let first = try KeyPair(secretKey: vector.hex("sec1"))
        let second = try KeyPair(secretKey: vector.hex("sec2"))
        let key = try NIP44.conversationKey(first, second.publicKey)
        #expect(key.bytes == (try vector.hex("conversation_key")))
        let plaintext = Array(try vector.text("plaintext").utf8)
        let payload = try NIP44.encrypt(plaintext, key, nonce: vector.hex("nonce"))
        #expect(payload == (try vector.text("payload")))
        #expect(try NIP44.decrypt(payload, try NIP44.conversationKey(second, first.publicKey)) == plaintext)
    }
}

@Test func nip44MatchesLongVectors() throws {
    let all = try vectors("valid", "encrypt_decrypt_long_msg")
    #expect(all.count == 3)
    for vector in all {
        let key = NIP44.ConversationKey(try vector.hex("conversation_key"))
        let times = Int(try #require(vector["repeat"]?.integer))
        let plaintext = Array(String(repeating: try vector.text("pattern"), count: times).utf8)
        #expect(Bytes32.sha256(plaintext).hex == (try vector.text("plaintext_sha256")))
        let payload = try NIP44.encrypt(plaintext, key, nonce: vector.hex("nonce"))
        #expect(Bytes32.sha256(Array(payload.utf8)).hex == (try vector.text("payload_sha256")))
        #expect(try NIP44.decrypt(payload, key) == plaintext)
    }
}

@Test func nip44RefusesWrongLengths() throws {
    let key = NIP44.ConversationKey([UInt8](repeating: 1, count: 32))
    let nonce = [UInt8](repeating: 2, count: 32)
    for vector in try vectors("invalid", "encrypt_msg_lengths") {
        let text = [UInt8](repeating: 0x61, count: Int(try #require(vector.integer)))
        #expect(code { _ = try NIP44.encrypt(text, key, nonce: nonce) } == .invalidPayloadSize)
    }
    #expect(code { _ = try NIP44.encrypt([1], key, nonce: [1]) } == .invalidLength)
}

@Test func nip44RefusesWrongKeys() throws {
    let all = try vectors("invalid", "get_conversation_key")
    #expect(all.count == 8)
    for vector in all {
        let found = code {
            let own = try KeyPair(secretKey: vector.hex("sec1"))
            _ = try NIP44.conversationKey(own, try PublicKey(bytes: vector.hex("pub2")))
        }
        #expect(found == .invalidSecretKey || found == .invalidPublicKey, "\(vector)")
    }
}

@Test func nip44RefusesInvalidPayloads() throws {
    let codes: [(String, NostrError.Code)] = [
        ("unknown encryption version", .unsupportedVersion), ("invalid base64", .invalidBase64),
        ("invalid MAC", .badMAC),
        ("invalid padding", .invalidPadding), ("invalid payload length: 0", .unsupportedVersion),
        ("invalid payload length", .invalidPayloadSize),
    ]
    let all = try vectors("invalid", "decrypt")
    #expect(all.count == 12)
    for vector in all {
        let note = try vector.text("note")
        let expected = codes.first { note.hasPrefix($0.0) }?.1
        let key = NIP44.ConversationKey(try vector.hex("conversation_key"))
        #expect(code { _ = try NIP44.decrypt(vector.text("payload"), key) } == expected, "\(note)")
    }
}

/// The three examples in the text of NIP-44: 65535 bytes have the short prefix, 65536 and 65537 the long one.
@Test func nip44ReadsLongLengthPrefix() throws {
    let key = NIP44.ConversationKey(
        try #require(Hex.decode("c41c775356fd92eadc63ff5a0dc1da211b268cbea22316767095b2871ea1412d")))
    let nonce = [UInt8](repeating: 0, count: 31) + [1]
    let sums = [
        65535: "6d8c2810d1e870fbaa1f0a0937126cca837a15f9260e27060c331d70a3c0bc84",
        65536: "b7b4edb36ba92e267d322d56d9aebc22e7fa96ff52e3c12adc07f07a43cbc616",
        65537: "eeb7c7c5373894ea2c1547cfd3ccb15d5a0b2d619da852e5c79df792dcc9e435",
    ]
    for (count, sum) in sums {
        let plaintext = [UInt8](repeating: 0x61, count: count)
        let payload = try NIP44.encrypt(plaintext, key, nonce: nonce, limit: count)
        #expect(Bytes32.sha256(Array(payload.utf8)).hex == sum)
        #expect(try NIP44.decrypt(payload, key) == plaintext)
    }
    let most = [UInt8](repeating: 0x61, count: NIP44.maximumReceivedPlaintext)
    #expect(try NIP44.decrypt(try NIP44.encrypt(most, key, nonce: nonce, limit: most.count), key) == most)
    let far = String(repeating: "A", count: 1_600_000)
    #expect(code { _ = try NIP44.decrypt(far, key) } == .invalidPayloadSize)
}

@Test func nip44RefusesPaddingOfWrongLength() throws {
    let sound = NIP44.pad(Array("hello".utf8))
    #expect(try NIP44.unpad(sound) == Array("hello".utf8))
    var wrong: [[UInt8]] = [[], [0], [0, 0, 0, 0, 0, 0], Array(sound.dropLast()), sound + [0]]
    for prefix: [UInt8] in [[0, 0], [0, 33], [0xff, 0xff]] { wrong.append(prefix + sound.dropFirst(2)) }
    wrong.append([0, 0, 0xff, 0xff, 0xff, 0xff] + sound.dropFirst(6))
    wrong.append([0, 0, 0, 0, 0, 5] + [UInt8](repeating: 0, count: 32))
    for padded in wrong { #expect(code { _ = try NIP44.unpad(padded) } == .invalidPadding) }
}

@Test func nip44DetectsEveryChangedByte() throws {
    let key = NIP44.ConversationKey([UInt8](repeating: 3, count: 32))
    let payload = try NIP44.encrypt(Array("secret".utf8), key, nonce: [UInt8](repeating: 4, count: 32))
    let data = try #require(Base64.decode(payload))
    for position in data.indices {
        var changed = data
        changed[position] ^= 0x10
        let expected: NostrError.Code = position == 0 ? .unsupportedVersion : .badMAC
        #expect(code { _ = try NIP44.decrypt(Base64.encode(changed), key) } == expected)
    }
    let other = NIP44.ConversationKey([UInt8](repeating: 5, count: 32))
    #expect(code { _ = try NIP44.decrypt(payload, other) } == .badMAC)
}
