import Testing

@testable import MLS

@Suite(.needsVectors) struct PassiveClientVectors {
    private struct Vector: Decodable {
        struct PSK: Decodable { let pskId: HexBytes, psk: HexBytes }
        struct Epoch: Decodable { let proposals: [HexBytes], commit: HexBytes, epochAuthenticator: HexBytes }
        let cipherSuite: UInt16
        let keyPackage, signaturePriv, encryptionPriv, initPriv, welcome: HexBytes
        let ratchetTree: HexBytes?
        let initialEpochAuthenticator: HexBytes
        let externalPsks: [PSK]
        let epochs: [Epoch]
    }

    private func replay(_ file: String) throws -> Int {
        var run = 0
        for vector in try VectorFile.load(file, as: Vector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            guard case .welcome(let welcome) = try MLSMessage(vector.welcome.bytes),
                case .keyPackage(let package) = try MLSMessage(vector.keyPackage.bytes)
            else {
                Issue.record("expected a Welcome and a key package")
                continue
            }
            let bundle = KeyPackageBundle(
                keyPackage: package, initKey: try HPKEPrivateKey(suite, bytes: vector.initPriv.bytes),
                encryptionKey: try HPKEPrivateKey(suite, bytes: vector.encryptionPriv.bytes),
                signatureKey: try SignaturePrivateKey(suite, bytes: vector.signaturePriv.bytes))
            let keys = vector.externalPsks.map {
                PreSharedKey(
                    id: PreSharedKeyID(key: .external(id: $0.pskId.bytes), nonce: []), secret: $0.psk.secret)
            }
            var group = try MLSGroup.join(
                welcome, with: bundle, ratchetTree: vector.ratchetTree?.bytes, preSharedKeys: keys)
            #expect(group.epochAuthenticator == vector.initialEpochAuthenticator.secret)
            for epoch in vector.epochs {
                for proposal in epoch.proposals {
                    _ = try group.process(MLSMessage(proposal.bytes), now: nil)
                }
                guard
                    case .commit(let staged) = try group.process(
                        MLSMessage(epoch.commit.bytes), now: nil, preSharedKeys: keys),
                    let next = staged.next
                else {
                    Issue.record("expected a commit that keeps this member")
                    break
                }
                group = next
                #expect(group.epochAuthenticator == epoch.epochAuthenticator.secret)
            }
        }
        return run
    }

    @Test func officialWelcomes() throws { #expect(try self.replay("passive-client-welcome") == 40) }
    @Test func officialCommits() throws { #expect(try self.replay("passive-client-handling-commit") == 65) }
    @Test func officialRandomGroup() throws { #expect(try self.replay("passive-client-random") == 1) }
}
