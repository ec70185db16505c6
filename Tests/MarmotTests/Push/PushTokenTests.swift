import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// Encrypted device tokens. The vectors were computed with another implementation of all parts (python3-cryptography);
/// keys, nonce and padding of the first are those of a test of MDK 0.8.0.
struct PushTokenTests {
    struct Vector: Sendable {
        let server, once: UInt8
        let nonce: [UInt8]
        let platform: DeviceToken.Platform
        let token: [UInt8]
        let padding: [UInt8]
        let sharedX, key, start, end, hash: String

        var serverKeys: KeyPair { get throws { try KeyPair(secretKey: [UInt8](repeating: self.server, count: 32)) } }
        var onceKeys: KeyPair { get throws { try KeyPair(secretKey: [UInt8](repeating: self.once, count: 32)) } }

        var plaintext: [UInt8] {
            let count = self.token.count
            return [self.platform.rawValue, UInt8(count >> 8), UInt8(count & 255)] + self.token + self.padding
        }
    }

    static let vectors = [
        Vector(
            server: 0x11, once: 0x22, nonce: [UInt8](repeating: 0x55, count: 12), platform: .apns,
            token: [UInt8](repeating: 0xcd, count: 32), padding: [UInt8](repeating: 0x99, count: 989),
            sharedX: "77e0510d5042e2f5e9e59c977b81eeed590cf7d20c1c51da451a8eaa9fdc45ff",
            key: "91aee98150a35a2cf0d19ecfa3410f201f029e4ba31bd14a4f36f9d2f5c1d77f",
            start: "466d7fcae563e5cb09a0d1870bb580344804617879a14949cf22285f1bae3f27555555555555555555555555"
                + "4762c6ffcb8b9d92fb5971caead58f7a5afa7b699b311e4871a3e5738913fff2",
            end: "dc90bf4f410c0cdd74399684e6014a555d71946c5fe6aad46f07c1e5e3e3cadb",
            hash: "17e8c015938ea0c107e5565dc662565b77945742a3d06d3e554e17b05b5aa3bd"),
        Vector(
            server: 0xaa, once: 0xbb, nonce: Array(0..<12), platform: .fcm, token: Array("firebase-token".utf8),
            padding: (0..<1007).map { UInt8($0 & 255) },
            sharedX: "1d3e7279da3f845c4246087cdd3dd42bea3dea7245ceaf75609d8eb0a4e89c4e",
            key: "e547cfb9f15769d72e6aada12b1326bb762550aa27c283c95c60ebb2d5e1163f",
            start: "68680737c76dabb801cb2204f57dbe4e4579e4f710cd67dc1b4227592c81e9b5000102030405060708090a0b"
                + "806811b9c3fe168ede964b3eb6c8ddf449f8bc6a31d848b6c4c8d5d6ef3d4bd3",
            end: "a96ca2af9f6310ca898f4ddd358b575aa3cfacbc8bb7fc2a9e38b9010157b8aa",
            hash: "546d5cea6ca76f84ff520c22868ab53f716300f61b3ef5e8709165154e06f4f4"),
        Vector(
            server: 0x01, once: 0x03, nonce: [UInt8](repeating: 0x44, count: 12), platform: .fcm,
            token: (0..<1021).map { UInt8(7 * $0 & 255) }, padding: [],
            sharedX: "8c8ed94f9348a4506397ba0ce957b2fcdd76b67162b21c53eb4f0f0417a2acf3",
            key: "33a54f829437065947beea6f2e168627bb8dee9f1ba654e6e3e632bd31c392ed",
            start: "531fe6068134503d2723133227c867ac8fa6c83c537e9a44c3c5bdbdcb1fe337444444444444444444444444"
                + "50eefb2df30a648ede580adf56997884d198a78bcbe297b485da36a7e86eed36",
            end: "889e2d9e6b4d62baa2da3dc4d6f502d4a75cf888df86ca4b527d4e2c750f781a",
            hash: "d88f7f7d6540287b768f06027d490921b62ae57152922c4ce7737c2afd1673ec"),
    ]

    @Test(arguments: vectors) func matchesKnownCiphertext(_ vector: Vector) throws {
        let (server, once) = (try vector.serverKeys, try vector.onceKeys)
        for (own, peer) in [(server, once), (once, server)] {
            #expect(own.withSharedX(of: peer.publicKey) { Hex.encode(Array($0)) } == vector.sharedX)
            #expect(try Hex.encode(PushToken.key(own, peer.publicKey).copyBytes()) == vector.key)
        }
        let token = try PushToken(
            sealing: Secret(vector.plaintext), for: server.publicKey, once: once, nonce: vector.nonce)
        #expect(token.bytes.count == 1084)
        #expect(Hex.encode(Array(token.bytes[..<76])) == vector.start)
        #expect(Hex.encode(token.bytes.suffix(32)) == vector.end)
        #expect(Hex.encode(SHA256Derivation.digest(token.bytes)) == vector.hash)
        let opened = try token.open(by: server)
        #expect(opened.platform == vector.platform)
        #expect(opened.secret.copyBytes() == vector.token)
    }

    @Test(arguments: [1, 32, 1020, 1021]) func onlyTheServerOpensTokens(_ count: Int) throws {
        var rng = SplitMix64(seed: UInt64(count))
        let (server, other) = (KeyPair.generate(using: &rng), KeyPair.generate(using: &rng))
        let device = try DeviceToken(.apns, Secret((0..<count).map { UInt8($0 & 255) }))
        let first = try PushToken(device, for: server.publicKey, using: &rng)
        let second = try PushToken(device, for: server.publicKey, using: &rng)
        #expect(zip(first.bytes, second.bytes).filter { $0 != $1 }.count > 1000)
        #expect(try first.open(by: server) == device)
        #expect(try PushToken(base64: second.base64).open(by: server) == device)
        expectError(.badPushToken, "not for this server") { _ = try first.open(by: other) }
    }

    @Test func detectsEveryDamagedByte() throws {
        var rng = SplitMix64(seed: 1)
        let server = KeyPair.generate(using: &rng)
        let device = try DeviceToken(.fcm, Secret(Array("token".utf8)))
        let token = try PushToken(device, for: server.publicKey, using: &rng)
        for position in Array(0..<48) + stride(from: 48, to: 1084, by: 37) + [1067, 1068, 1083] {
            var bytes = token.bytes
            bytes[position] ^= 1
            expectError(.badPushToken) { _ = try PushToken(bytes: bytes).open(by: server) }
        }
    }

    @Test func refusesMalformedPlaintexts() throws {
        var rng = SplitMix64(seed: 2)
        let server = KeyPair.generate(using: &rng)
        func open(_ header: [UInt8], _ count: Int = 1024) throws -> DeviceToken {
            let plaintext = Secret(header + [UInt8](repeating: 7, count: count - header.count))
            return try DeviceToken(padded: plaintext)
        }
        #expect(try open([1, 0, 1]).secret.count == 1)
        #expect(try open([2, 3, 253]).secret.count == 1021)
        for header: [UInt8] in [[0, 0, 1], [3, 0, 1], [0x77, 0, 32]] {
            expectError(.badPushToken, "platform") { _ = try open(header) }
        }
        for header: [UInt8] in [[1, 0, 0], [1, 3, 254], [1, 255, 255]] {
            expectError(.badPushToken, "does not fit") { _ = try open(header) }
        }
        expectError(.badPushToken, "wrong size, 1023") { _ = try open([1, 0, 1], 1023) }
        expectError(.badPushToken, "wrong size, 1025") { _ = try open([1, 0, 1], 1025) }
        // The same in a valid seal.
        let sealed = try PushToken(
            sealing: Secret([0x77] + [UInt8](repeating: 0, count: 1023)), for: server.publicKey,
            once: KeyPair.generate(using: &rng), nonce: [UInt8](repeating: 1, count: 12))
        expectError(.badPushToken, "platform 119") { _ = try sealed.open(by: server) }
    }

    @Test func checksSizesAndKeys() throws {
        var rng = SplitMix64(seed: 3)
        expectError(.badPushToken, "found 0") { _ = try DeviceToken(.apns, Secret([])) }
        expectError(.badPushToken, "found 1022") {
            _ = try DeviceToken(.apns, Secret([UInt8](repeating: 0, count: 1022)))
        }
        for count in [0, 280, 1083, 1085] {
            let bytes = [UInt8](repeating: 0, count: count)
            expectError(.badPushToken, "found \(count)") { _ = try PushToken(bytes: bytes) }
            expectError(.badPushToken, "found \(count)") { _ = try PushToken(base64: Base64.encode(bytes)) }
        }
        expectError(.badPushToken, "Base64") { _ = try PushToken(base64: "no Base64!") }
        let offCurve = try PublicKey(bytes: [UInt8](repeating: 0xff, count: 32))
        let server = KeyPair.generate(using: &rng)
        #expect(server.withSharedX(of: offCurve) { _ in true } == nil)
        let device = try DeviceToken(.apns, Secret([1]))
        expectError(.badPushToken, "not a point") { _ = try PushToken(device, for: offCurve, using: &rng) }
        expectError(.badPushToken, "not a point") {
            _ = try PushToken(bytes: [UInt8](repeating: 0xff, count: 1084)).open(by: server)
        }
    }

    @Test func descriptionsHideTokens() throws {
        let device = try DeviceToken(.apns, Secret(Array("secret".utf8)))
        #expect("\(device)" == "DeviceToken(apns, 6 bytes)")
        #expect(try "\(PushToken(bytes: [UInt8](repeating: 1, count: 1084)))" == "PushToken(1084 bytes)")
    }
}
