import LiveTesting
import Testing

@testable import MLS

struct KeyTests {
    private func bytes(_ text: String) throws -> [UInt8] { try #require(HexBytes.decode(text)) }

    @Test func hpkeOpensRFC9180A11() throws {
        let suite = CipherSuite.x25519AES128GCM
        let key = try HPKEPrivateKey(
            suite, bytes: self.bytes("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8"))
        #expect(hex(key.publicKey) == "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d")
        let hpke = HPKE(suite)
        let info = hpke.info(try self.bytes("4f6465206f6e2061204772656369616e2055726e"))
        let encapsulated = try self.bytes("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431")
        let sealed = HPKECiphertext(
            kemOutput: encapsulated,
            ciphertext: try self.bytes(
                "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"))
        let opened = try hpke.open(sealed, with: key, info: info, additionalData: Array("Count-0".utf8))
        #expect(opened.copyBytes() == Array("Beauty is truth, truth beauty".utf8))
        let exported = try hpke.setupRecipient(
            kemOutput: encapsulated, with: key, info: info, exporting: [], length: 32)
        #expect(hex(exported.copyBytes()) == "3853fe2b4035195a573ffc53856e77058e15d9ea064de3e59f4961d0095250ee")
        expectError(.decryptionFailed) { _ = try hpke.open(sealed, with: key, info: hpke.info([]), additionalData: []) }
    }

    /// RFC 9180 §7.1.4.
    @Test(arguments: ["00", "01", "ecffffff", "edffffff", "eeffffff"])
    func refusesLowOrderX25519Key(_ prefix: String) throws {
        let head = try self.bytes(prefix)
        var point = head + Array(repeating: prefix.count > 2 ? 0xFF : 0, count: 32 - head.count)
        if prefix.count > 2 { point[31] = 0x7F }
        expectError(.invalidKey) { try KEM.x25519.validate(publicKey: point) }
        var rng = SplitMix64(seed: 1)
        let key = try HPKEPrivateKey.generate(.x25519AES128GCM, using: &rng)
        expectError(.invalidKey) { _ = try key.agree(with: point) }
        // X25519 ignores the top bit, and so does the check.
        point[31] |= 0x80
        expectError(.invalidKey) { try KEM.x25519.validate(publicKey: point) }
        expectError(.invalidKey) { _ = try key.agree(with: point) }
    }

    @Test func refusesZeroSharedSecret() throws {
        var rng = SplitMix64(seed: 2)
        let key = try HPKEPrivateKey.generate(.x25519AES128GCM, using: &rng)
        let hpke = HPKE(.x25519AES128GCM)
        let sealed = HPKECiphertext(
            kemOutput: Array(repeating: 0, count: 32), ciphertext: Array(repeating: 0, count: 32))
        expectError(.invalidKey) { _ = try hpke.open(sealed, with: key, info: hpke.info([])) }
    }

    @Test(arguments: CipherSuite.supported)
    func refusesKeysOfWrongLength(_ suite: CipherSuite) throws {
        for count in [0, 1, 31, 67, 200] {
            let bytes = [UInt8](repeating: 0x41, count: count)
            expectError(.invalidKey) { try suite.kem.validate(publicKey: bytes) }
            #expect(!suite.verify(bytes, label: "label", of: [1], publicKey: bytes))
        }
        let long = [UInt8](repeating: 0x41, count: 67)
        expectError(.invalidKey) { _ = try HPKEPrivateKey(suite, bytes: long) }
        expectError(.invalidKey) { _ = try SignaturePrivateKey(suite, bytes: long) }
    }

    @Test(arguments: CipherSuite.supported)
    func signatureCoversLabelAndContent(_ suite: CipherSuite) throws {
        var rng = SplitMix64(seed: 3)
        let key = try SignaturePrivateKey.generate(suite, using: &rng)
        let signature = try key.sign(label: "one", [1, 2, 3])
        #expect(suite.verify(signature, label: "one", of: [1, 2, 3], publicKey: key.publicKey))
        #expect(!suite.verify(signature, label: "two", of: [1, 2, 3], publicKey: key.publicKey))
        #expect(!suite.verify(signature, label: "one", of: [1, 2], publicKey: key.publicKey))
        let restored = try SignaturePrivateKey(suite, bytes: key.secret.copyBytes())
        #expect(restored.publicKey == key.publicKey)
    }

    @Test func identityPointVerifiesNothing() {
        let identity: [UInt8] = [1] + Array(repeating: 0, count: 31)
        let signature = identity + Array(repeating: 0, count: 32)
        #expect(!SignatureScheme.ed25519.verify(signature, of: [1, 2, 3], publicKey: identity))
    }

    @Test func descriptionsHideSecretBytes() throws {
        let secret = Secret([0xDE, 0xAD, 0xBE, 0xEF])
        #expect("\(secret)" == "Secret(4 bytes)")
        #expect(secret == Secret([0xDE, 0xAD, 0xBE, 0xEF]))
        #expect(secret != Secret([0xDE, 0xAD, 0xBE, 0xEE]))
        #expect(secret != Secret([0xDE, 0xAD, 0xBE]))
        var rng = SplitMix64(seed: 4)
        #expect("\(try HPKEPrivateKey.generate(.x25519AES128GCM, using: &rng))" == "HPKEPrivateKey(x25519)")
        #expect("\(try SignaturePrivateKey.generate(.p256AES128GCM, using: &rng))" == "SignaturePrivateKey")
    }

    @Test(arguments: [0, 4, 6, 8, 0xF000] as [UInt16])
    func refusesUnsupportedSuites(_ number: UInt16) throws {
        var rng = SplitMix64(seed: 5)
        expectError(.unsupportedCipherSuite) {
            _ = try SignaturePrivateKey.generate(CipherSuite(rawValue: number), using: &rng)
        }
        expectError(.unsupportedCipherSuite) {
            _ = try HPKEPrivateKey.generate(CipherSuite(rawValue: number), using: &rng)
        }
    }

    @Test(arguments: CipherSuite.supported)
    func refusesAlteredAEADCiphertext(_ suite: CipherSuite) throws {
        let key = Secret(repeatElement(7, count: suite.aead.keyLength))
        let nonce = [UInt8](repeating: 1, count: 12)
        for length in [0, 1, 16, 100] {
            let text = [UInt8](repeating: 3, count: length)
            let sealed = try suite.aead.seal(text, key: key, nonce: nonce, additionalData: [9])
            #expect(sealed.count == length + 16)
            #expect(try suite.aead.open(sealed, key: key, nonce: nonce, additionalData: [9]) == text)
            for position in [0, sealed.count - 1] {
                var changed = sealed
                changed[position] ^= 1
                expectError(.decryptionFailed) {
                    _ = try suite.aead.open(changed, key: key, nonce: nonce, additionalData: [9])
                }
            }
            expectError(.decryptionFailed) {
                _ = try suite.aead.open(sealed, key: key, nonce: nonce, additionalData: [])
            }
            expectError(.decryptionFailed) {
                _ = try suite.aead.open(Array(sealed.prefix(15)), key: key, nonce: nonce, additionalData: [9])
            }
        }
    }
}
