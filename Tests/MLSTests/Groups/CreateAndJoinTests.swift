import MLS
import TLSCodec
import Testing

/// The samples of the article "Create and join a group", by the public API alone.
@Suite struct CreateAndJoinTests {
    let now: UInt64 = 1_700_000_000

    @Test func newcomerReadsAndAnswers() throws {
        let alicePackage = try newKeyPackage(identity: Array("alice".utf8), now: now)

        var random = SystemRandomNumberGenerator()
        let groupID = GroupID((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        var alice = try MLSGroup.create(groupID: groupID, member: alicePackage, using: &random)

        let bobPackage = try newKeyPackage(identity: Array("bob".utf8), now: now)
        let published = MLSMessage.keyPackage(bobPackage.keyPackage).tlsEncoded()

        guard case .keyPackage(let found) = try MLSMessage(published) else {
            throw MLSError(.malformed, "expected a key package")
        }
        var request = CommitRequest()
        request.adding = [try found.verified(now: now)]
        let pending = try alice.commit(request, using: &random)

        alice = alice.merging(pending.next)

        let received = try #require(pending.welcome)
        guard case .welcome(let welcome) = try MLSMessage(received) else {
            throw MLSError(.malformed, "expected a Welcome")
        }
        var bob = try MLSGroup.join(welcome, with: bobPackage)

        #expect(bob.epochAuthenticator == alice.epochAuthenticator)
        #expect(bob.members.map(\.leaf.credential) == alice.members.map(\.leaf.credential))

        let message = try bob.protect(Array("hello".utf8), using: &random)
        #expect(try receive(message, in: &alice, now: now) == "hello")

        let proposal = try bob.proposeUpdate(using: &random)
        #expect(try receive(proposal.message, in: &alice, now: now) == nil)

        var update = CommitRequest()
        update.references = alice.pendingProposals.map(\.reference)
        let next = try alice.commit(update, using: &random)
        #expect(next.changes.updated.map(\.index).contains(bob.ownLeafIndex))

        #expect(try receive(next.message, in: &bob, now: now) == nil)
        alice = alice.merging(next.next)
        #expect(bob.epochAuthenticator == alice.epochAuthenticator)
    }

    @Test func restoresFromRecords() throws {
        var random = SystemRandomNumberGenerator()
        let bundle = try newKeyPackage(identity: Array("alice".utf8), now: now)
        var group = try MLSGroup.create(groupID: [1, 2, 3], member: bundle, using: &random)
        var records: [GroupRecord: Secret] = [:]
        group.drainChanges().apply(to: &records)

        let message = try group.protect(Array("hello".utf8), using: &random)
        group.drainChanges().apply(to: &records)
        // Send `message` only after the store has committed `records`.

        let restored = try MLSGroup(records: records)

        #expect(restored.epochAuthenticator == group.epochAuthenticator)
        #expect(restored.records == group.records)
        #expect(!message.isEmpty)
        #expect(try KeyPackageBundle(stored: bundle.stored).keyPackage == bundle.keyPackage)
    }

    func newKeyPackage(identity: [UInt8], now: UInt64) throws -> KeyPackageBundle {
        var random = SystemRandomNumberGenerator()
        let suite = CipherSuite.x25519AES128GCM
        return try KeyPackageBundle.generate(
            suite, credential: .basic(identity: identity),
            capabilities: Capabilities(cipherSuites: [suite.rawValue]),
            lifetime: Lifetime(notBefore: now - 3600, notAfter: now + 90 * 86_400),
            signatureKey: try SignaturePrivateKey.generate(suite, using: &random), using: &random)
    }

    func receive(_ bytes: [UInt8], in group: inout MLSGroup, now: UInt64) throws -> String? {
        switch try group.process(MLSMessage(bytes), now: now) {
        case .application(let message):
            return String(decoding: message.data, as: UTF8.self)
        case .proposal:
            return nil  // Waits in `group.pendingProposals` for a commit.
        case .commit(let commit):
            // Check `commit.changes` here: may this member make these changes?
            if let next = commit.next { group = next }  // Nil if the commit removed this member.
            return nil
        }
    }
}
