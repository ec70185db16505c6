import TLSCodec
import Testing

@testable import MLS

@Suite(.needsVectors) struct CryptoVectors {
    private struct Vector: Decodable {
        struct RefHash: Decodable { let label: String, out: HexBytes, value: HexBytes }
        struct Expand: Decodable { let secret: HexBytes, label: String, context: HexBytes, length: Int, out: HexBytes }
        struct Derive: Decodable { let secret: HexBytes, label: String, out: HexBytes }
        struct DeriveTree: Decodable {
            let secret: HexBytes, label: String, generation: UInt32, length: Int, out: HexBytes
        }
        struct Sign: Decodable {
            let priv: HexBytes, pub: HexBytes, content: HexBytes, label: String, signature: HexBytes
        }
        struct Encrypt: Decodable {
            let priv: HexBytes, pub: HexBytes, label: String, context: HexBytes, plaintext: HexBytes
            let kemOutput: HexBytes, ciphertext: HexBytes
        }
        let cipherSuite: UInt16
        let refHash: RefHash
        let expandWithLabel: Expand
        let deriveSecret: Derive
        let deriveTreeSecret: DeriveTree
        let signWithLabel: Sign
        let encryptWithLabel: Encrypt
    }

    @Test func officialCryptoBasics() throws {
        var run = 0
        for vector in try VectorFile.load("crypto-basics", as: Vector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            #expect(
                suite.referenceHash(label: vector.refHash.label, vector.refHash.value.bytes) == vector.refHash.out.bytes
            )
            let expand = vector.expandWithLabel
            #expect(
                suite.expandWithLabel(
                    expand.secret.secret, expand.label, context: expand.context.bytes, length: expand.length)
                    == expand.out.secret)
            #expect(
                suite.deriveSecret(vector.deriveSecret.secret.secret, vector.deriveSecret.label)
                    == vector.deriveSecret.out.secret)
            let tree = vector.deriveTreeSecret
            #expect(
                suite.deriveTreeSecret(tree.secret.secret, tree.label, generation: tree.generation, length: tree.length)
                    == tree.out.secret)
            try self.check(vector.signWithLabel, suite)
            try self.check(vector.encryptWithLabel, suite)
        }
        #expect(run == 5)
    }

    private func check(_ sign: Vector.Sign, _ suite: CipherSuite) throws {
        let content = sign.content.bytes
        let key = try SignaturePrivateKey(suite, bytes: sign.priv.bytes)
        #expect(key.publicKey == sign.pub.bytes)
        #expect(suite.verify(sign.signature.bytes, label: sign.label, of: content, publicKey: sign.pub.bytes))
        let own = try key.sign(label: sign.label, content)
        #expect(suite.verify(own, label: sign.label, of: content, publicKey: sign.pub.bytes))
        #expect(!suite.verify(own, label: sign.label + "x", of: content, publicKey: sign.pub.bytes))
    }

    private func check(_ encrypt: Vector.Encrypt, _ suite: CipherSuite) throws {
        let hpke = HPKE(suite)
        let info = hpke.encryptContext(label: encrypt.label, context: encrypt.context.bytes)
        let key = try HPKEPrivateKey(suite, bytes: encrypt.priv.bytes)
        #expect(key.publicKey == encrypt.pub.bytes)
        let sealed = HPKECiphertext(kemOutput: encrypt.kemOutput.bytes, ciphertext: encrypt.ciphertext.bytes)
        #expect(try hpke.open(sealed, with: key, info: info) == encrypt.plaintext.secret)
        var rng = SystemRandomNumberGenerator()
        let own = try hpke.seal(encrypt.plaintext.secret, to: encrypt.pub.bytes, info: info, using: &rng)
        #expect(try hpke.open(own, with: key, info: info) == encrypt.plaintext.secret)
        let wrong = hpke.encryptContext(label: encrypt.label + "x", context: encrypt.context.bytes)
        #expect(throws: MLSError(.decryptionFailed, "")) { try hpke.open(own, with: key, info: wrong) }
    }
}

@Suite(.needsVectors) struct KeyScheduleVectors {
    private struct Vector: Decodable {
        struct Epoch: Decodable {
            struct Exporter: Decodable { let context: HexBytes, label: String, length: Int, secret: HexBytes }
            let treeHash, commitSecret, pskSecret, confirmedTranscriptHash, groupContext, joinerSecret: HexBytes
            let welcomeSecret, initSecret, senderDataSecret, encryptionSecret, exporterSecret: HexBytes
            let epochAuthenticator, externalSecret, confirmationKey, membershipKey, resumptionPsk: HexBytes
            let externalPub: HexBytes
            let exporter: Exporter
        }
        let cipherSuite: UInt16
        let groupId: HexBytes
        let initialInitSecret: HexBytes
        let epochs: [Epoch]
    }

    @Test func officialKeySchedule() throws {
        var run = 0
        for vector in try VectorFile.load("key-schedule", as: Vector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            var initSecret = vector.initialInitSecret.secret
            for (number, epoch) in vector.epochs.enumerated() {
                let context = GroupContext(
                    cipherSuite: suite, groupID: GroupID(vector.groupId.bytes), epoch: Epoch(rawValue: UInt64(number)),
                    treeHash: epoch.treeHash.bytes, confirmedTranscriptHash: epoch.confirmedTranscriptHash.bytes,
                    extensions: [])
                #expect(context.tlsEncoded() == epoch.groupContext.bytes)
                let schedule = KeySchedule(
                    suite, initSecret: initSecret, commitSecret: epoch.commitSecret.secret,
                    pskSecret: epoch.pskSecret.secret, context: context.tlsEncoded())
                #expect(schedule.joinerSecret == epoch.joinerSecret.secret)
                #expect(schedule.welcomeSecret == epoch.welcomeSecret.secret)
                let secrets = schedule.secrets
                #expect(secrets.initSecret == epoch.initSecret.secret)
                #expect(secrets.senderData == epoch.senderDataSecret.secret)
                #expect(secrets.encryption == epoch.encryptionSecret.secret)
                #expect(secrets.exporter == epoch.exporterSecret.secret)
                #expect(secrets.authenticator == epoch.epochAuthenticator.secret)
                #expect(secrets.external == epoch.externalSecret.secret)
                #expect(secrets.confirmation == epoch.confirmationKey.secret)
                #expect(secrets.membership == epoch.membershipKey.secret)
                #expect(secrets.resumption == epoch.resumptionPsk.secret)
                #expect(try suite.kem.deriveKeyPair(secrets.external).publicKey == epoch.externalPub.bytes)
                let exporter = epoch.exporter
                #expect(
                    suite.export(
                        secrets.exporter, label: Array(exporter.label.utf8), context: exporter.context.bytes,
                        length: exporter.length) == exporter.secret.secret)
                initSecret = secrets.initSecret
            }
        }
        #expect(run == 5)
    }

    private struct PSKVector: Decodable {
        struct PSK: Decodable { let pskId: HexBytes, psk: HexBytes, pskNonce: HexBytes }
        let cipherSuite: UInt16
        let psks: [PSK]
        let pskSecret: HexBytes
    }

    @Test func officialPSKSecrets() throws {
        var run = 0
        for vector in try VectorFile.load("psk_secret", as: PSKVector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            let keys = vector.psks.map {
                PreSharedKey(
                    id: PreSharedKeyID(key: .external(id: $0.pskId.bytes), nonce: $0.pskNonce.bytes),
                    secret: $0.psk.secret)
            }
            #expect(try suite.pskSecret(keys) == vector.pskSecret.secret)
        }
        #expect(run == 55)
    }

    private struct TranscriptVector: Decodable {
        let cipherSuite: UInt16
        let confirmationKey, authenticatedContent, interimTranscriptHashBefore: HexBytes
        let confirmedTranscriptHashAfter, interimTranscriptHashAfter: HexBytes
    }

    @Test func officialTranscriptHashes() throws {
        var run = 0
        for vector in try VectorFile.load("transcript-hashes", as: TranscriptVector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            let commit = try AuthenticatedContent(tlsEncoded: vector.authenticatedContent.bytes)
            let tag = try #require(commit.confirmationTag)
            let confirmed = suite.confirmedTranscriptHash(
                interim: vector.interimTranscriptHashBefore.bytes, commit: commit)
            #expect(confirmed == vector.confirmedTranscriptHashAfter.bytes)
            #expect(
                suite.interimTranscriptHash(confirmed: confirmed, confirmationTag: tag)
                    == vector.interimTranscriptHashAfter.bytes)
            #expect(suite.hash.hmac(key: vector.confirmationKey.secret, confirmed) == tag)
            #expect(commit.tlsEncoded() == vector.authenticatedContent.bytes)
        }
        #expect(run == 5)
    }
}
