import TLSCodec
import Testing

@testable import MLS

/// Rules of the MLS extensions draft for components, in messages that a member with all keys has signed.
struct ComponentRefusals {
    private func expect(
        _ code: MLSError.Code, _ party: Party, _ proposals: [Proposal], path: UpdatePath? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var receiver = party.members[1]
        let commit = try party.members[0].forgedCommit(proposals.map { .proposal($0) }, path: path)
        expectError(code, sourceLocation: sourceLocation) {
            _ = try receiver.process(MLSMessage(commit.tlsEncoded()), now: Party.now)
        }
    }

    private func update(_ component: ComponentID, _ data: [UInt8]) -> Proposal {
        .appDataUpdate(AppDataUpdate(component, .update(data)))
    }

    private let removal = Proposal.appDataUpdate(AppDataUpdate(0x8003, .remove))

    @Test func s4_7_refusesTwoChangesOfOneComponent() throws {
        let party = try Party.withComponents()
        // A valid list fails at the forged confirmation tag.
        try self.expect(.badConfirmationTag, party, [self.update(0x8001, [1]), self.update(0x8003, [1])])
        try self.expect(.invalidProposals, party, [self.update(0x8001, [1]), self.update(0x8001, [2])])
        try self.expect(.invalidProposals, party, [self.update(0x8001, [1]), self.update(0x8001, [1])])
        try self.expect(.invalidProposals, party, [self.removal, self.removal])
        try self.expect(.invalidProposals, party, [self.update(0x8003, [1]), self.removal])
        var copy = party
        expectError(.invalidProposals) {
            let request = CommitRequest.changing(
                AppDataUpdate(0x8001, .update([1])), AppDataUpdate(0x8001, .update([2])))
            _ = try copy.members[0].commit(request, using: &copy.rng)
        }
    }

    @Test func s4_7_refusesUpdateAndReferenceForOneComponent() throws {
        var party = try Party.withComponents()
        let proposal = try party.members[2].propose(self.update(0x8001, [1]), using: &party.rng)
        try party.deliver(proposal.message, from: 2)
        var receiver = party.members[1]
        let commit = try party.members[0].forgedCommit([
            .reference(proposal.reference), .proposal(self.update(0x8001, [2])),
        ])
        expectError(.invalidProposals) { _ = try receiver.process(commit, now: Party.now) }
    }

    @Test func s4_7_requiresExtensionsBeforeUpdates() throws {
        var party = try Party.withComponents()
        let same = Proposal.groupContextExtensions(party.members[0].extensions)
        let path = try party.members[0].honestPath(using: &party.rng)
        try self.expect(.invalidProposals, party, [self.update(0x8001, [1]), same], path: path)
        // In the other order the list is valid, and fails at the forged confirmation tag.
        try self.expect(.badConfirmationTag, party, [same, self.update(0x8001, [1])], path: path)
    }

    @Test func s4_7_onlyAppDataUpdateChangesDictionary() throws {
        var party = try Party.withComponents()
        let path = try party.members[0].honestPath(using: &party.rng)
        let changed = AppDataDictionary([0x8001: [2]]).asExtension
        for extensions in [
            [Party.requiredCapabilities, changed], [Party.requiredCapabilities],
            // The requirement of AppDataUpdate may not be dropped together with the dictionary.
            [changed], [],
        ] {
            try self.expect(.invalidProposals, party, [.groupContextExtensions(extensions)], path: path)
            var request = CommitRequest()
            request.extensions = extensions
            expectError(.invalidProposals) { _ = try party.members[0].commit(request, using: &party.rng) }
        }
        // A group that does not require AppDataUpdate may not introduce both at once either.
        party = try Party.withComponents(extensions: [])
        var request = CommitRequest()
        request.extensions = [Party.requiredCapabilities, changed]
        expectError(.invalidProposals) { _ = try party.members[0].commit(request, using: &party.rng) }
        request.extensions = [changed]
        try party.commit(request, by: 0)
        #expect(try party.dictionary(of: 1)[0x8001] == [2])
    }

    @Test func s4_7_acceptsRemovalOfAbsentData() throws {
        var party = try Party.withComponents()
        let absent = Proposal.appDataUpdate(AppDataUpdate(0x8005, .remove))
        try self.expect(.badConfirmationTag, party, [absent])
        // It is never sent, and refused beside new GroupContext extensions.
        expectError(.invalidProposals) {
            _ = try party.members[0].commit(.changing(AppDataUpdate(0x8005, .remove)), using: &party.rng)
        }
        let same = Proposal.groupContextExtensions(party.members[0].extensions)
        let path = try party.members[0].honestPath(using: &party.rng)
        try self.expect(.invalidProposals, party, [same, absent], path: path)
    }

    @Test func s4_7_refusesUpdateOfUndecodableDictionary() throws {
        let broken = Extension(type: .appDataDictionary, data: [9])
        var rules = Party.componentRules
        rules.requiresComponents = false
        var party = try Party.withComponents(rules: rules, extensions: [broken])
        expectError(.malformed) {
            _ = try party.members[0].commit(.changing(AppDataUpdate(0x8001, .update([]))), using: &party.rng)
        }
        rules.requiresComponents = true
        expectError(.malformed) { _ = try Party.withComponents(1, rules: rules, extensions: [broken]) }
    }

    @Test func s12_2_membersMustSupportAppDataUpdate() throws {
        var party = try Party.withComponents(2, extensions: [])
        let plain = try party.bundle(
            "plain", capabilities: Capabilities(cipherSuites: [1], extensions: [6], proposals: [10]))
        var request = CommitRequest()
        request.adding = [try plain.keyPackage.verified(now: Party.now)]
        let pending = try party.commit(request, by: 0)
        party.members.append(try Party.join(pending.welcome, plain, configuration: party.configuration))
        try self.expect(.invalidProposals, party, [self.update(0x8001, [1])])
    }

    @Test func s5_leavesListRequiredComponents() throws {
        var party = try Party.withComponents(2)
        for components in [[], [0x8003], [0x0001, 0x8000, 0x8002]] as [[ComponentID]] {
            let bundle = try party.bundle(
                "newcomer", leafExtensions: [Party.leafDictionary(components).asExtension])
            var request = CommitRequest()
            request.adding = [try bundle.keyPackage.verified(now: Party.now)]
            expectError(.invalidLeafNode) { _ = try party.members[0].commit(request, using: &party.rng) }
        }
        let bare = try party.bundle("bare", leafExtensions: []).keyPackage
        try self.expect(.invalidLeafNode, party, [.add(bare)])
        // Without the rule, the list has no effect.
        var lenient = party.members[0]
        lenient.configuration.rules.requiresComponents = false
        var request = CommitRequest()
        request.adding = [try bare.verified(now: Party.now)]
        _ = try lenient.commit(request, using: &party.rng)
    }

    @Test func s5_requiresOnlyListedComponents() throws {
        var party = try Party.withComponents()
        let list = ComponentsList([0x8001, 0x8002]).tlsEncoded()
        try self.expect(.invalidLeafNode, party, [self.update(.appComponents, list)])
        expectError(.invalidLeafNode) {
            _ = try party.members[0].commit(.changing(AppDataUpdate(1, .update(list))), using: &party.rng)
        }
        try self.expect(.malformed, party, [self.update(.appComponents, [3, 0, 1, 0])])
        let supported = ComponentsList([0x8001, 0x8003]).tlsEncoded()
        try party.commit(.changing(AppDataUpdate(1, .update(supported))), by: 0)
        try party.expectAgreement()
    }

    @Test func s5_refusesLeafThatDropsRequiredComponent() throws {
        var party = try Party.withComponents()
        var request = CommitRequest()
        request.leafExtensions = [Party.leafDictionary([0x8003]).asExtension]
        expectError(.invalidLeafNode) { _ = try party.members[0].commit(request, using: &party.rng) }
        // A committer without the rule sends it nevertheless.
        party.members[0].configuration.rules.requiresComponents = false
        request.wireFormat = .publicMessage
        let pending = try party.members[0].commit(request, using: &party.rng)
        expectError(.invalidLeafNode) {
            _ = try party.members[1].staging(MLSMessage(pending.message), now: Party.now)
        }
        let update = try party.members[2].proposeUpdate(
            leafExtensions: [Party.leafDictionary([]).asExtension], using: &party.rng)
        _ = try party.members[1].process(MLSMessage(update.message), now: Party.now)
        request = CommitRequest()
        request.references = [update.reference]
        expectError(.invalidLeafNode) { _ = try party.members[1].commit(request, using: &party.rng) }
    }

    @Test func s5_joinerRequiresComponentsOfAllLeaves() throws {
        var party = try Party.withComponents(1)
        party.members[0].configuration.rules.requiresComponents = false
        let bare = try party.bundle("bare", leafExtensions: [])
        var request = CommitRequest()
        request.adding = [try bare.keyPackage.verified(now: Party.now)]
        let pending = try party.members[0].commit(request, using: &party.rng)
        expectError(.invalidLeafNode) {
            _ = try Party.join(pending.welcome, bare, configuration: party.configuration)
        }
        _ = try Party.join(pending.welcome, bare)
        var creator = try Party(1)
        let bundle = try creator.bundle(
            "creator", capabilities: party.capabilities, leafExtensions: [Party.leafDictionary([]).asExtension])
        expectError(.invalidLeafNode) {
            _ = try MLSGroup.create(
                groupID: [1], member: bundle, extensions: [Party.groupDictionary.asExtension],
                configuration: party.configuration, using: &creator.rng)
        }
    }

    @Test func s4_6_refusesUndecodableDictionaries() throws {
        var party = try Party.withComponents()
        let broken = Extension(type: .appDataDictionary, data: [3, 0x80, 1, 9])
        let leaf = try party.bundle("leaf", leafExtensions: [broken]).keyPackage
        try self.expect(.malformed, party, [.add(leaf)])
        let package = try party.bundle("package", extensions: [broken]).keyPackage
        try self.expect(.malformed, party, [.add(package)])
        #expect(!package.isLastResort)
    }

    @Test func s6_4_componentMarksLastResortKeyPackage() throws {
        var party = try Party.withComponents(1)
        let cases: [([Extension], Bool)] = [
            ([], false), ([AppDataDictionary([.lastResortKeyPackage: []]).asExtension], true),
            ([AppDataDictionary([.lastResortKeyPackage: [0]]).asExtension], false),
            ([AppDataDictionary([.appAck: []]).asExtension], false),
        ]
        for (extensions, isLastResort) in cases {
            let package = try party.bundle("client", extensions: extensions).keyPackage
            #expect(try package.verified(now: Party.now).keyPackage.isLastResort == isLastResort)
        }
        let older = try party.bundle(
            "older", capabilities: Capabilities(cipherSuites: [1], extensions: [6, 10]),
            extensions: [Extension(type: .lastResort, data: [])])
        #expect(older.keyPackage.isLastResort)
    }

    @Test func s4_9_safeAADFramesAuthenticatedData() throws {
        var dictionary = Party.groupDictionary
        dictionary[.safeAAD] = [0]
        var party = try Party.withComponents(
            2, extensions: [Party.requiredCapabilities, dictionary.asExtension])
        // Empty data becomes an empty structure.
        let message = try party.members[0].protect([1], using: &party.rng)
        guard case .application(let received)? = try party.deliver(message, from: 0).first else {
            Issue.record("expected an application message")
            return
        }
        #expect(received.authenticatedData == [0])
        let items = SafeAAD([0x8001: [7]]).tlsEncoded()
        let framed = try party.members[0].protect([1], authenticatedData: items, using: &party.rng)
        #expect(try party.members[1].reading(MLSMessage(framed)).authenticatedData == items)
        expectError(.malformed) { _ = try party.members[0].protect([1], authenticatedData: [9], using: &party.rng) }
        // Messages of a sender that ignores the rule: forgeries have empty authenticated data.
        let open = try party.members[0].forgedPublicMessage(.proposal(self.update(0x8001, [1])))
        expectError(.malformed) { _ = try party.members[1].process(open, now: nil) }
        let sealed = try party.members[0].forgedPrivateMessage([1])
        expectError(.malformed) { _ = try party.members[1].process(sealed, now: nil) }
        // Late messages are judged by their own epoch.
        let late = try party.members[0].protect([2], using: &party.rng)
        try party.commit(.changing(AppDataUpdate(.safeAAD, .remove)), by: 1)
        expectError(.malformed) { _ = try party.members[1].process(sealed, now: nil) }
        #expect(try party.members[1].reading(MLSMessage(late)).authenticatedData == [0])
        let plain = try party.members[0].protect([3], using: &party.rng)
        #expect(try party.members[1].reading(MLSMessage(plain)).authenticatedData.isEmpty)
    }
}
