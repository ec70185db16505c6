import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

struct AccountProofTests {
    private static let signatureKey = Array(UInt8(0)...31)
    private static let time: UInt64 = 1_700_000_000
    private static let component =
        "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9000000006553f100"
        + "c5315d3c85b9d4907cb03395a2a97b3ba2eab393f8e45b13a5d5233acedac60a"
        + "51d2a295e1b1b5ee372d18a49bdb8041a7dba9dedce722c7c6f712f78bbdfb5d"

    private func account() throws -> KeyPair {
        try KeyPair(secretKey: [UInt8](repeating: 0, count: 31) + [3])
    }

    private func leaf(_ change: (inout ProvenLeaf) throws -> Void = { _ in }) throws -> ProvenLeaf {
        var leaf = ProvenLeaf(
            identity: try self.account().publicKey.bytes, signatureKey: Self.signatureKey, cipherSuite: 1,
            components: [1, 0x8009], proof: try V2Vectors.bytes(Self.component))
        try change(&leaf)
        return leaf
    }

    private func expectFailure(
        _ check: AccountProofCheck, _ code: MarmotError.Code = .badProof,
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        do {
            try body()
            Issue.record("expected a failure of \(check)", sourceLocation: sourceLocation)
        } catch let failure as AccountProofFailure {
            #expect(failure.check == check, "\(failure)", sourceLocation: sourceLocation)
            #expect(failure.error == MarmotError(code, ""), "\(failure)", sourceLocation: sourceLocation)
        } catch {
            Issue.record("unexpected error \(error)", sourceLocation: sourceLocation)
        }
    }

    @Test func matchesThePublishedVector() throws {
        let account = try self.account()
        let template = try AccountProof.template(
            for: Self.signatureKey, by: account.publicKey, createdAt: Self.time)
        #expect(template.kind == 450 && template.createdAt == 1_700_000_000)
        #expect(
            template.tags.map(\.values) == [
                ["d", "marmot.account-identity-proof.v2"], ["component", "0x8009"], ["ciphersuite", "0x0001"],
                ["signature_scheme", "0x0807"],
                ["mls_signature_key", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"],
            ])
        #expect(template.id.hex == "b7e9a15dd85990fb0f49c33db3cc9875f73986207b038404ceb6b7fec4e0af6b")
        var zeros = ZeroGenerator()
        let proof = try AccountProof.make(for: Self.signatureKey, by: account, now: 1_700_000_000, using: &zeros)
        #expect(Hex.encode(proof.encoded) == Self.component)
        #expect(try AccountProof(data: proof.encoded) == proof)
        #expect(try self.leaf().verify() == proof)
    }

    @Test(arguments: [V2Vectors.engineKeyPackage, V2Vectors.appKeyPackage])
    func acceptsRecordedLeaves(json: String) throws {
        let announcement = try PublishedKeyPackage(V2Vectors.event(json))
        let leaf = try V2Vectors.leaf(announcement.keyPackage, components: announcement.support.components)
        #expect(try leaf.verify().signer == announcement.keyPackage.leafNode.identity())
        var other = leaf
        other.signatureKey[0] ^= 1
        self.expectFailure(.signature) { _ = try other.verify() }
    }

    @Test func refusesOtherLengthsAndTimes() throws {
        let data = try V2Vectors.bytes(Self.component)
        for count in [0, 32, 40, 103] {
            self.expectFailure(.format) { _ = try AccountProof(data: Array(data[..<count])) }
        }
        self.expectFailure(.format) { _ = try AccountProof(data: data + [0]) }
        func at(_ time: [UInt8]) -> [UInt8] { Array(data[..<32]) + time + Array(data[40...]) }
        self.expectFailure(.time) { _ = try AccountProof(data: at([0, 0, 0, 0, 0, 0, 0, 0])) }
        self.expectFailure(.time) { _ = try AccountProof(data: at([0, 0x20, 0, 0, 0, 0, 0, 0])) }
        self.expectFailure(.time) { _ = try AccountProof(data: at([UInt8](repeating: 0xFF, count: 8))) }
        #expect(try AccountProof(data: at([0, 0x1F, 255, 255, 255, 255, 255, 255])).createdAt == (1 << 53) - 1)
        var zeros = ZeroGenerator()
        let account = try self.account()
        self.expectFailure(.time) {
            _ = try AccountProof.make(for: Self.signatureKey, by: account, now: -1, using: &zeros)
        }
        self.expectFailure(.suite) {
            _ = try AccountProof.make(for: [1, 2, 3], by: account, now: 1, using: &zeros)
        }
    }

    @Test func namesTheFirstFailedCheck() throws {
        func failing(
            _ check: AccountProofCheck, _ code: MarmotError.Code = .badProof,
            _ change: (inout ProvenLeaf) throws -> Void
        ) throws {
            let leaf = try self.leaf(change)
            self.expectFailure(check, code) { _ = try leaf.verify() }
        }
        try failing(.credential, .badCredential) { $0.identity = nil }
        try failing(.credential, .badCredential) { $0.identity = [UInt8](repeating: 0xFF, count: 32) }
        try failing(.credential, .badCredential) { $0.identity?.append(0) }
        try failing(.generation, .hybridProfile) { $0.hasLegacyProof = true }
        try failing(.generation, .legacyProfile) {
            $0.hasLegacyProof = true
            $0.proof = nil
        }
        try failing(.advertisement) { $0.components = [1, 0x8001] }
        try failing(.format) { $0.proof = nil }
        try failing(.format) { $0.proof?.append(0) }
        try failing(.time) { $0.proof?.replaceSubrange(32..<40, with: [UInt8](repeating: 0, count: 8)) }
        var rng = SplitMix64(seed: 1)
        let other = KeyPair.generate(using: &rng).publicKey
        try failing(.signer) { $0.identity = other.bytes }
        try failing(.suite) { $0.cipherSuite = 2 }
        try failing(.suite) { $0.signatureKey = [] }
        try failing(.signature) { $0.signatureKey[31] ^= 1 }
        for position in [39, 40, 103] { try failing(.signature) { $0.proof?[position] ^= 1 } }
    }

    @Test func comparesEveryFieldOfRemoteSignatures() throws {
        var rng = SplitMix64(seed: 2)
        let (account, other) = (try self.account(), KeyPair.generate(using: &rng))
        let template = try AccountProof.template(
            for: Self.signatureKey, by: account.publicKey, createdAt: Self.time)
        let signed = template.signed(by: account, using: &rng)
        let proof = try AccountProof(signed: signed, template: template)
        #expect(try self.leaf { $0.proof = proof.encoded }.verify() == proof)
        func refused(_ check: AccountProofCheck, _ change: (inout UnsignedEvent) -> Void) {
            var changed = template
            change(&changed)
            let event = changed.signed(by: changed.pubkey == other.publicKey ? other : account, using: &rng)
            self.expectFailure(check) { _ = try AccountProof(signed: event, template: template) }
        }
        refused(.signer) { $0.pubkey = other.publicKey }
        refused(.format) { $0.createdAt += 1 }
        refused(.format) { $0.kind = 1 }
        refused(.format) { $0.tags.append(Tag("client", "x")) }
        refused(.format) { $0.content += " " }
        let forged = Event(
            id: signed.id, pubkey: signed.pubkey, createdAt: signed.createdAt, kind: signed.kind, tags: signed.tags,
            content: signed.content, signature: other.sign(signed.id, using: &rng))
        self.expectFailure(.signature) { _ = try AccountProof(signed: forged, template: template) }
    }
}
