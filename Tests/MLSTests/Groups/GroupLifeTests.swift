import TLSCodec
import Testing

@testable import MLS

@Suite struct GroupLifeTests {
    @Test func joinsByOwnPartOfWelcome() throws {
        var party = try Party(2)
        let bundles = [try party.bundle("first"), try party.bundle("second")]
        var request = CommitRequest()
        request.adding = try bundles.map { try $0.keyPackage.verified(now: Party.now) }
        let pending = try party.members[0].commit(request, using: &party.rng)
        guard case .welcome(let welcome) = try MLSMessage(try #require(pending.welcome)) else {
            Issue.record("expected a Welcome")
            return
        }
        for bundle in bundles {
            let own = try #require(welcome.only(for: bundle.keyPackage.reference))
            #expect(own.secrets.map(\.newMember) == [bundle.keyPackage.reference])
            #expect(try MLSGroup.join(own, with: bundle).epochAuthenticator == pending.next.epochAuthenticator)
        }
        #expect(welcome.only(for: [0]) == nil)
    }

    @Test(arguments: CipherSuite.supported)
    func groupLifecycle(_ suite: CipherSuite) throws {
        var party = try Party(1, suite)
        try party.add(3)
        try party.exchangeMessages()
        try party.add(1, by: 2, path: false)
        try party.commit(by: 4)
        try party.expectAgreement()
        try party.exchangeMessages()
        var request = CommitRequest()
        request.removing = [party.members[1].ownLeafIndex]
        request.wireFormat = .publicMessage
        let pending = try party.commit(request, by: 3)
        #expect(party.gone == [1])
        #expect(pending.changes.removed.map(\.index) == [LeafIndex(1)])
        try party.expectAgreement()
        // The newcomer is added at the freed leaf.
        try party.add(1, by: 0)
        #expect(party.members.last?.ownLeafIndex == LeafIndex(1))
        try party.exchangeMessages()
    }

    @Test func removingRightHalfTruncatesTree() throws {
        var party = try Party(5)
        #expect(party.members[0].tree.shape.leafCount == 8)
        var request = CommitRequest()
        request.removing = [LeafIndex(4)]
        try party.commit(request, by: 1)
        #expect(party.members[0].tree.shape.leafCount == 4)
        request.removing = [LeafIndex(2), LeafIndex(3)]
        try party.commit(request, by: 0)
        #expect(party.members[0].tree.shape.leafCount == 2)
        try party.expectAgreement()
        try party.add(3)
        #expect(party.members[0].members.count == 5)
        for committer in party.present { try party.commit(by: committer) }
        try party.exchangeMessages()
    }

    @Test func removedMemberCannotReachNextEpoch() throws {
        var party = try Party(3)
        var request = CommitRequest()
        request.removing = [LeafIndex(2)]
        let pending = try party.members[0].commit(request, using: &party.rng)
        let removed = try party.members[2].process(MLSMessage(pending.message), now: nil).staged
        #expect(removed?.next == nil)
        #expect(removed?.changes.removed.first?.index == LeafIndex(2))
        #expect(removed?.changes.committer == LeafIndex(0))
        let stays = try party.members[1].process(MLSMessage(pending.message), now: nil).staged
        #expect(stays?.next?.epochAuthenticator == pending.next.epochAuthenticator)
    }

    @Test func oneCommitAddsRemovesAndChangesExtensions() throws {
        var party = try Party(4)
        let bundle = try party.bundle("newcomer")
        var request = CommitRequest()
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        request.removing = [LeafIndex(1)]
        request.extensions = [
            Extension(type: .init(rawValue: 0xF2EE), data: [1, 2, 3]),
            RequiredCapabilities(extensions: [0xF2EE]).asExtension,
        ]
        let pending = try party.commit(request, by: 2)
        party.members.append(try Party.join(pending.welcome, bundle))
        try party.expectAgreement()
        #expect(party.members[0].extensions.data(of: .init(rawValue: 0xF2EE)) == [1, 2, 3])
        #expect(pending.changes.extensions?.count == 2)
        // The newcomer is added at the removed member's leaf.
        #expect(party.members.last?.ownLeafIndex == LeafIndex(1))
        try party.exchangeMessages()
    }

    @Test func pathReplacesSignatureKeyAndLeafExtensions() throws {
        var party = try Party(3)
        let key = try SignaturePrivateKey.generate(party.suite, using: &party.rng)
        var request = CommitRequest()
        request.signatureKey = key
        request.capabilities = Capabilities(cipherSuites: [1], extensions: [0xF2EE, 10, 0x0A0A], proposals: [10])
        request.leafExtensions = [Extension(type: .init(rawValue: 0x0A0A), data: [])]
        let pending = try party.commit(request, by: 1)
        #expect(pending.changes.updated.first?.new.signatureKey == key.publicKey)
        #expect(party.members[0].member(LeafIndex(1))?.signatureKey == key.publicKey)
        #expect(party.members[2].member(LeafIndex(1))?.extensions.count == 1)
        try party.exchangeMessages()
        try party.commit(by: 1)
        try party.expectAgreement()
    }

    @Test func joinsWithSeparateRatchetTree() throws {
        var party = try Party(3)
        let bundle = try party.bundle("newcomer")
        var request = CommitRequest()
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        request.includesRatchetTree = false
        let pending = try party.commit(request, by: 0)
        guard case .welcome(let welcome) = try MLSMessage(#require(pending.welcome)) else { return }
        expectError(.invalidWelcome) { _ = try MLSGroup.join(welcome, with: bundle) }
        let joined = try MLSGroup.join(welcome, with: bundle, ratchetTree: pending.next.encodedRatchetTree)
        #expect(joined.epochAuthenticator == pending.next.epochAuthenticator)
    }

    @Test func refusesSendingAfterReInit() throws {
        var party = try Party(2)
        let reInit = try ReInit(tlsEncoded: [1, 9, 0, 1, 0, 1, 0])
        let (message, reference) = try party.members[1].propose(.reInit(reInit), using: &party.rng)
        try party.deliver(message, from: 1)
        var request = CommitRequest()
        request.references = [reference]
        request.forcesPath = false
        try party.commit(request, by: 0)
        for index in party.present {
            #expect(party.members[index].isReinitialized)
            expectError(.unsupported) { _ = try party.members[index].protect([1], using: &party.rng) }
            expectError(.unsupported) { _ = try party.members[index].commit(.init(), using: &party.rng) }
            expectError(.unsupported) {
                _ = try party.members[index].propose(.remove(LeafIndex(0)), using: &party.rng)
            }
        }
    }

    /// A new signature key is part of the leaf, and only a commit with a path sends a leaf.
    @Test func newSignatureKeyForcesPath() throws {
        var party = try Party(2)
        let bundle = try party.bundle("third")
        var request = CommitRequest()
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        request.forcesPath = false
        request.signatureKey = try .generate(party.suite, using: &party.rng)
        let pending = try party.commit(request, by: 0)
        party.members.append(try Party.join(pending.welcome, bundle))
        try party.expectAgreement()
        let message = try party.members[0].protect([1], using: &party.rng)
        for index in 1...2 { _ = try party.members[index].process(MLSMessage(message), now: nil) }
    }

    @Test func lastEpochRefusesCommits() throws {
        var party = try Party(2)
        party.members[0].context.epoch = .max
        expectError(.invalidCommit) { _ = try party.members[0].commit(.init(), using: &party.rng) }
    }
}
