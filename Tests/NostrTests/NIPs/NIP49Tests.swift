import LiveTesting
import Testing

@testable import Nostr

@Suite struct NIP49Tests {
    /// The example of NIP-49.
    private static let text =
        "ncryptsec1qgg9947rlpvqu76pj5ecreduf9jxhselq2nae2kghhvd5g7dgjtcxfqtd67p9m0w57lspw8gsq6yphnm8623nsl8xn9j4jdzz84zm3frztj3z7s35vpzmqf6ksu8r89qk5z2zxfmu5gv8th8wclt0h4p"
    private static let secret = "3501454135014541350145413501453fefb02227e449e57cf4d3a3ce05378683"

    private func password(_ text: String) -> NIP49.Password { NIP49.Password(normalizedUTF8: Array(text.utf8)) }

    private func key() throws -> KeyPair { try KeyPair(parsing: Self.secret) }

    private func encrypted(_ password: String, logN: UInt8 = 1) throws -> String {
        var generator = SplitMix64(seed: 49)
        return try self.key().encrypted(password: self.password(password), logN: logN, using: &generator)
    }

    /// The bytes of an encrypted key, for changes.
    private func bytes() throws -> [UInt8] { try Bech32.decode(self.encrypted("pass")).bytes }

    private func parse(_ bytes: [UInt8], prefix: String = "ncryptsec") throws(NostrError) -> NIP49.EncryptedKey {
        try NIP49.EncryptedKey(parsing: Bech32.encode(prefix: prefix, bytes))
    }

    @Test func nip49DecryptsTheVector() throws {
        let read = try NIP49.EncryptedKey(parsing: Self.text)
        #expect(read.logN == 16)
        #expect(read.security == .knownInsecure)
        #expect(read.text == Self.text)
        #expect(try read.decrypt(password: self.password("nostr")).secretBytes == Hex.decode(Self.secret))
    }

    @Test func nip49RefusesWrongPassword() throws {
        let read = try NIP49.EncryptedKey(parsing: try self.encrypted("nostr"))
        for wrong in ["", "Nostr", "nostr ", "nostrnostr"] {
            #expect(throws: NostrError(.wrongPassword, "")) { try read.decrypt(password: self.password(wrong)) }
        }
        #expect(try read.decrypt(password: self.password("nostr")) == self.key())
    }

    @Test func nip49UsesFreshSaltsForEverySecurity() throws {
        var generator = SplitMix64(seed: 1)
        var texts: Set<String> = []
        for security in NIP49.KeySecurity.allCases {
            for logN in [UInt8(1), 4, 10] {
                let text = try self.key().encrypted(
                    password: self.password("ÅΩṩ"), logN: logN, security: security, using: &generator)
                let read = try NIP49.EncryptedKey(parsing: text.uppercased())
                #expect(read.security == security)
                #expect(read.logN == logN)
                #expect(try read.decrypt(password: self.password("ÅΩṩ")).secretBytes == self.key().secretBytes)
                texts.insert(text)
            }
        }
        #expect(texts.count == 9)
        let lengths = Set(try texts.map { try Bech32.decode($0).bytes.count })
        #expect(lengths == [91])
    }

    @Test func nip49RefusesExcessiveMemoryCost() throws {
        for logN in [UInt8(0), 23, 31, 63, 64, 255] {
            var bytes = try self.bytes()
            bytes[1] = logN
            #expect(throws: NostrError(.tooCostly, "")) { try self.parse(bytes) }
            #expect(throws: NostrError(.tooCostly, "")) { try self.encrypted("x", logN: logN) }
        }
        var bytes = try self.bytes()
        bytes[1] = 22
        #expect(try self.parse(bytes).logN == 22)
    }

    @Test func nip49RefusesHostileInput() throws {
        let good = try self.bytes()
        for count in 0..<good.count {
            #expect(throws: NostrError(.invalidLength, "")) { try self.parse(Array(good.prefix(count))) }
        }
        #expect(throws: NostrError(.invalidLength, "")) { try self.parse(good + [0]) }
        #expect(throws: NostrError(.invalidLength, "")) { try self.parse(good + [UInt8](repeating: 0, count: 2000)) }
        for version in [UInt8(0), 1, 3, 255] {
            #expect(throws: NostrError(.unsupportedVersion, "")) { try self.parse([version] + good.dropFirst()) }
        }
        var unknown = good
        unknown[42] = 3
        #expect(throws: NostrError(.unsupportedVersion, "")) { try self.parse(unknown) }
        #expect(throws: NostrError(.unexpectedPrefix, "")) { try self.parse(good, prefix: "nsec") }
        for text in ["", "ncryptsec1", "ncryptsec1qqqq", Self.text + "q", String(Self.text.dropLast()), "nsec1"] {
            #expect(throws: NostrError(.invalidBech32, "")) { try NIP49.EncryptedKey(parsing: text) }
        }
    }

    @Test func nip49DetectsEveryAlteredByte() throws {
        let good = try self.bytes()
        let password = self.password("pass")
        #expect(try self.parse(good).decrypt(password: password) == self.key())
        // The version and the rounds have their own tests.
        for index in 2..<good.count {
            var bytes = good
            bytes[index] ^= 1
            if index == 42 { bytes[index] = 1 }
            let read = try self.parse(bytes)
            #expect(throws: NostrError(.wrongPassword, ""), "byte \(index)") { try read.decrypt(password: password) }
        }
    }

    @Test func nip49RefusesEncryptedInvalidKey() throws {
        let password = self.password("pass")
        let salt = [UInt8](repeating: 1, count: 16)
        let nonce = [UInt8](repeating: 2, count: 24)
        let key = try #require(password.storage.withUnsafeBytes { Sodium.scrypt($0, salt: salt, logN: 1) })
        for content in [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32)] {
            let sealed = Sodium.seal(content, key: key, nonce: nonce, associatedData: [2])
            let read = try self.parse([2, 1] + salt + nonce + [2] + sealed)
            #expect(throws: NostrError(.invalidSecretKey, "")) { try read.decrypt(password: password) }
        }
    }

    @Test func scryptMatchesRFC7914() throws {
        // §12: P="pleaseletmein", S="SodiumChloride", N=16384, r=8, p=1; the first 32 of 64 bytes.
        let key = Array("pleaseletmein".utf8).withUnsafeBytes {
            Sodium.scrypt($0, salt: Array("SodiumChloride".utf8), logN: 14)
        }
        let bytes = try #require(key).withUnsafeBytes { [UInt8]($0) }
        #expect(Hex.encode(bytes) == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
    }

    @Test func descriptionsHideKeysAndPasswords() throws {
        let key = try self.key()
        let password = self.password("correct horse")
        var text = "\(key) \(password) \(String(reflecting: key)) \(String(reflecting: password))"
        dump(key, to: &text)
        dump(password, to: &text)
        dump([key: password], to: &text)
        #expect(text.contains(key.publicKey.description))
        for secret in [Self.secret, key.nsec, "correct horse", "\(key.secretBytes)", "storage"] {
            #expect(!text.contains(secret))
        }
    }
}
