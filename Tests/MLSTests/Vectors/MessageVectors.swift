import TLSCodec
import Testing

@testable import MLS

@Suite(.needsVectors) struct MessageVectors {
    private struct Vector: Decodable {
        let mlsWelcome, mlsGroupInfo, mlsKeyPackage, ratchetTree, groupSecrets, addProposal, updateProposal: HexBytes
        let removeProposal, preSharedKeyProposal, reInitProposal, externalInitProposal: HexBytes
        let groupContextExtensionsProposal, commit, publicMessageApplication, publicMessageProposal: HexBytes
        let publicMessageCommit, privateMessage: HexBytes
    }

    @Test func officialMessagesRoundTrip() throws {
        let vectors = try VectorFile.load("messages", as: Vector.self)
        for vector in vectors {
            for bytes in [
                vector.mlsWelcome, vector.mlsGroupInfo, vector.mlsKeyPackage, vector.publicMessageApplication,
                vector.publicMessageProposal, vector.publicMessageCommit, vector.privateMessage,
            ] {
                #expect(try MLSMessage(bytes.bytes).tlsEncoded() == bytes.bytes)
            }
            let tree = try RatchetTree(cipherSuite: .x25519AES128GCM, encoded: vector.ratchetTree.bytes)
            #expect(tree.encoded() == vector.ratchetTree.bytes)
            #expect(try GroupSecrets(tlsEncoded: vector.groupSecrets.bytes).encoded() == vector.groupSecrets.secret)
            #expect(try Commit(tlsEncoded: vector.commit.bytes).tlsEncoded() == vector.commit.bytes)
            let proposals: [(UInt16, HexBytes)] = [
                (1, vector.addProposal), (2, vector.updateProposal), (3, vector.removeProposal),
                (4, vector.preSharedKeyProposal), (5, vector.reInitProposal), (6, vector.externalInitProposal),
                (7, vector.groupContextExtensionsProposal),
            ]
            for (type, body) in proposals {
                // The file holds each proposal's body, without its type.
                let whole = [UInt8(type >> 8), UInt8(type & 0xFF)] + body.bytes
                #expect(try Proposal(tlsEncoded: whole).tlsEncoded() == whole)
            }
        }
        #expect(vectors.count == 300)
    }

    private struct WelcomeVector: Decodable {
        let cipherSuite: UInt16
        let initPriv, signerPub, keyPackage, welcome: HexBytes
    }

    @Test func officialWelcome() throws {
        var run = 0
        for vector in try VectorFile.load("welcome", as: WelcomeVector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            guard case .welcome(let welcome) = try MLSMessage(vector.welcome.bytes),
                case .keyPackage(let package) = try MLSMessage(vector.keyPackage.bytes)
            else {
                Issue.record("expected a Welcome and a key package")
                continue
            }
            let entry = try #require(welcome.secrets.first { $0.newMember == package.reference })
            let hpke = HPKE(suite)
            let secret = try hpke.open(
                entry.encryptedGroupSecrets, with: HPKEPrivateKey(suite, bytes: vector.initPriv.bytes),
                info: hpke.encryptContext(label: "Welcome", context: welcome.encryptedGroupInfo))
            let secrets = try GroupSecrets(tlsEncoded: secret.copyBytes())
            let pskSecret = try suite.pskSecret([])
            let key = Welcome.key(
                suite,
                welcomeSecret: KeySchedule.welcomeSecret(
                    suite, joinerSecret: secrets.joinerSecret, pskSecret: pskSecret))
            let info = try GroupInfo(
                tlsEncoded: suite.aead.open(
                    welcome.encryptedGroupInfo, key: key.key, nonce: key.nonce.copyBytes(), additionalData: []))
            #expect(info.hasValidSignature(publicKey: vector.signerPub.bytes))
            let schedule = KeySchedule(
                suite, joinerSecret: secrets.joinerSecret, pskSecret: pskSecret, context: info.context.tlsEncoded())
            #expect(
                suite.hash.hmac(key: schedule.secrets.confirmation, info.context.confirmedTranscriptHash)
                    == info.confirmationTag)
        }
        #expect(run == 5)
    }
}
