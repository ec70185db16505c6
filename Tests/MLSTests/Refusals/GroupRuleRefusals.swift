import TLSCodec
import Testing

@testable import MLS

/// Rules that an application adds to RFC 9420.
struct GroupRuleRefusals {
    private func party(_ rules: GroupRules, count: Int = 3) throws -> Party {
        try Party(count, configuration: GroupConfiguration(rules: rules))
    }

    private func expect(
        _ code: MLSError.Code, _ party: Party, _ proposals: [Proposal], path: UpdatePath? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var receiver = party.members[1]
        let commit = try party.members[0].forgedCommit(proposals.map { .proposal($0) }, path: path)
        expectError(code, sourceLocation: sourceLocation) { _ = try receiver.process(commit, now: Party.now) }
    }

    // MARK: Wire format

    @Test func s6_sendsHandshakesAsRulesPrescribe() throws {
        for (rules, format) in [
            (GroupRules(), WireFormat.privateMessage), (GroupRules(handshakes: .publicOnly), .publicMessage),
        ] {
            var party = try self.party(rules)
            let update = try party.members[1].proposeUpdate(using: &party.rng)
            #expect(try MLSMessage(update.message).wireFormat == format)
            let pending = try party.members[0].commit(.init(), using: &party.rng)
            #expect(try MLSMessage(pending.message).wireFormat == format)
            let text = try party.members[0].protect([1], using: &party.rng)
            #expect(try MLSMessage(text).wireFormat == .privateMessage)
        }
    }

    @Test func s6_publicGroupRefusesPrivateHandshakes() throws {
        var party = try self.party(GroupRules(handshakes: .publicOnly))
        var lenient = party.members[0]
        lenient.configuration.rules = GroupRules()
        let proposal = try lenient.propose(.remove(LeafIndex(2)), using: &party.rng)
        let pending = try lenient.commit(.init(), using: &party.rng)
        for message in [proposal.message, pending.message] {
            expectError(.excludedWireFormat) {
                _ = try party.members[1].process(MLSMessage(message), now: nil)
            }
        }
        expectError(.excludedWireFormat) {
            _ = try party.members[0].propose(.selfRemove, wireFormat: .privateMessage, using: &party.rng)
        }
        var request = CommitRequest()
        request.wireFormat = .privateMessage
        expectError(.excludedWireFormat) { _ = try party.members[0].commit(request, using: &party.rng) }
        try party.commit(by: 0)
        try party.exchangeMessages()
    }

    // MARK: Types of proposals

    @Test func s12_2_refusesProposalsOfExcludedTypes() throws {
        var party = try self.party(GroupRules(proposals: [1, 2, 3, 7, 10]))
        let id = PreSharedKeyID(key: .external(id: [1]), nonce: party.rng.bytes(32))
        let excluded: [Proposal] = [
            .preSharedKey(id), try Proposal(tlsEncoded: [0, 5, 1, 9, 0, 1, 0, 1, 0]), .externalInit(kemOutput: [1]),
            .appDataUpdate(AppDataUpdate(0x8001, .remove)), .appEphemeral(ComponentData(0x8001, [1])),
        ]
        for proposal in excluded {
            try self.expect(.unsupportedProposal, party, [proposal])
            expectError(.unsupportedProposal) { _ = try party.members[0].propose(proposal, using: &party.rng) }
            let message = try party.members[0].forgedPublicMessage(.proposal(proposal))
            expectError(.unsupportedProposal) { _ = try party.members[1].process(message, now: nil) }
        }
        #expect(party.members[1].pendingProposals.isEmpty)
        var request = CommitRequest()
        request.preSharedKeys = [PreSharedKey(id: id, secret: Secret([1]))]
        expectError(.unsupportedProposal) { _ = try party.members[0].commit(request, using: &party.rng) }
    }

    @Test func s12_2_defaultRulesExcludeComponentProposals() throws {
        let party = try Party(3)
        try self.expect(.unsupportedProposal, party, [.appDataUpdate(AppDataUpdate(0x8001, .update([])))])
        try self.expect(.unsupportedProposal, party, [.appEphemeral(ComponentData(0x8001, []))])
    }

    @Test func s12_2_refusedPrivateProposalKeepsItsKey() throws {
        var party = try Party(2)
        party.members[0].configuration.rules.proposals.insert(9)
        let proposal = try party.members[0].propose(
            .appEphemeral(ComponentData(0x8001, [])), using: &party.rng)
        let before = RecordStore(whole: party.members[1]).records
        expectError(.unsupportedProposal) {
            _ = try party.members[1].process(MLSMessage(proposal.message), now: nil)
        }
        #expect(RecordStore(whole: party.members[1]).records == before)
    }

    @Test func s12_2_namesUnknownProposalType() throws {
        let party = try Party(2)
        let message = try party.members[0].forgedPublicMessage(.proposal(.selfRemove)).tlsEncoded()
        // The type 0x000a follows the content type 2 of a proposal.
        let position = try #require(
            message.indices.dropLast(2).first(where: { Array(message[$0..<$0 + 3]) == [2, 0, 0x0A] }))
        var unknown = message
        unknown[position + 1] = 0xF0
        expectError(.unsupportedProposal) { _ = try MLSMessage(unknown) }
        let commit = try party.members[0].forgedCommit([.proposal(.selfRemove)]).tlsEncoded()
        let inside = try #require(
            commit.indices.dropLast(3).first(where: { Array(commit[$0..<$0 + 4]) == [3, 1, 0, 0x0A] }))
        unknown = commit
        unknown[inside + 2] = 0xF0
        expectError(.unsupportedProposal) { _ = try MLSMessage(unknown) }
    }

    @Test func s4_8_admittedEphemeralDataChangesNothing() throws {
        var rules = Party.componentRules
        rules.proposals.insert(9)
        var party = try Party.withComponents(rules: rules)
        let data = ComponentData(0x8001, [5])
        let proposal = try party.members[2].propose(.appEphemeral(data), using: &party.rng)
        try party.deliver(proposal.message, from: 2)
        var request = CommitRequest()
        request.references = [proposal.reference]
        request.forcesPath = false
        let before = party.members[0].extensions
        let pending = try party.commit(request, by: 0)
        #expect(pending.changes.proposals.map(\.proposal) == [.appEphemeral(data)])
        #expect(!pending.changes.hasPath && pending.changes.extensions == nil)
        #expect(party.members[1].extensions == before)
        try party.expectAgreement()
    }

    // MARK: Signature keys

    @Test func selfUpdateKeepsFixedSignatureKey() throws {
        var party = try self.party(GroupRules(keepsSignatureKey: true))
        let old = party.members[0].ownLeaf
        let entry = Extension(type: .init(rawValue: 0xF2EE), data: [1])
        var request = CommitRequest()
        request.leafExtensions = [entry]
        try party.commit(request, by: 0)
        let new = try #require(party.members[1].member(LeafIndex(0)))
        #expect(new.signatureKey == old.signatureKey && new.encryptionKey != old.encryptionKey)
        #expect(new.extensions == [entry])
        let update = try party.members[2].proposeUpdate(leafExtensions: [entry], using: &party.rng)
        try party.deliver(update.message, from: 2)
        request = CommitRequest()
        request.references = [update.reference]
        try party.commit(request, by: 1)
        #expect(party.members[0].member(LeafIndex(2))?.extensions == [entry])
        try party.expectAgreement()
        let key = try SignaturePrivateKey.generate(party.suite, using: &party.rng)
        expectError(.invalidKey) { _ = try party.members[2].proposeUpdate(signatureKey: key, using: &party.rng) }
        request = CommitRequest()
        request.signatureKey = key
        expectError(.invalidKey) { _ = try party.members[0].commit(request, using: &party.rng) }
        request.signatureKey = party.members[0].signatureKey
        try party.commit(request, by: 0)
    }

    // MARK: Tolerances

    @Test func repeatedProposalsCountOnceIfTolerated() throws {
        for (tolerances, code) in [
            (GroupRules.Tolerances(), MLSError.Code.invalidProposals), (.repeatedProposals, .invalidCommit),
        ] {
            // A valid list without its path fails because of that.
            let party = try self.party(GroupRules(tolerances: tolerances), count: 4)
            let removal = Proposal.remove(LeafIndex(2))
            try self.expect(code, party, [removal, removal])
            try self.expect(code, party, [removal, .remove(LeafIndex(3)), removal])
            try self.expect(code, party, [.groupContextExtensions([]), .groupContextExtensions([])])
            // Repetitions of other types do not count once.
            let entry = Extension(type: .applicationID, data: [])
            try self.expect(
                .invalidProposals, party, [.groupContextExtensions([]), .groupContextExtensions([entry])])
        }
        var party = try self.party(GroupRules(tolerances: .repeatedProposals))
        let package = try party.bundle("newcomer").keyPackage
        try self.expect(.invalidProposals, party, [.add(package), .add(package)])
        let removal = try party.members[2].propose(
            .remove(LeafIndex(1)), wireFormat: .publicMessage, using: &party.rng)
        try party.deliver(removal.message, from: 2)
        var receiver = party.members[1]
        let commit = try party.members[0].forgedCommit([
            .reference(removal.reference), .proposal(.remove(LeafIndex(1))),
        ])
        expectError(.invalidProposals) { _ = try receiver.process(commit, now: nil) }
    }

    @Test func repeatedRemovalRemovesOnce() throws {
        let party = try self.party(GroupRules(tolerances: .repeatedProposals), count: 4)
        let receiver = try #require(party.members.last)
        let removal = Proposal.remove(LeafIndex(1))
        let list = ProposalList(
            committer: LeafIndex(0),
            proposals: [removal, removal].map { QueuedProposal(proposal: $0, sender: LeafIndex(0), reference: nil) },
            tolerances: .repeatedProposals)
        try list.validate(receiver)
        let state = try list.apply(to: receiver, hasPath: true, now: nil)
        #expect(state.changes.removed.map(\.index) == [LeafIndex(1)])
        #expect(state.changes.proposals.count == 1)
    }

    @Test func toleratedInlineSelfRemoveIsSelfUpdate() throws {
        var strict = try Party(3)
        let strictPath = try strict.members[0].honestPath(using: &strict.rng)
        try self.expect(.invalidProposals, strict, [.selfRemove], path: strictPath)
        var party = try self.party(GroupRules(tolerances: .inlineSelfRemoves))
        // Without a path it is refused; the honest path only lacks its confirmation tag.
        try self.expect(.invalidCommit, party, [.selfRemove])
        let path = try party.members[0].honestPath(using: &party.rng)
        try self.expect(.badConfirmationTag, party, [.selfRemove], path: path)
        let list = ProposalList(
            committer: LeafIndex(0),
            proposals: [QueuedProposal(proposal: .selfRemove, sender: LeafIndex(0), reference: nil)],
            tolerances: .inlineSelfRemoves)
        try list.validate(party.members[1])
        let state = try list.apply(to: party.members[1], hasPath: true, now: nil)
        #expect(state.changes.removed.isEmpty)
        #expect(state.changes.proposals.map(\.isInline) == [true])
        // By reference it removes the leaver, and its own commit remains refused.
        let leave = try party.members[0].propose(.selfRemove, wireFormat: .publicMessage, using: &party.rng)
        try party.deliver(leave.message, from: 0)
        var request = CommitRequest()
        request.references = [leave.reference]
        expectError(.invalidProposals) { _ = try party.members[0].commit(request, using: &party.rng) }
        try party.commit(request, by: 1)
        #expect(party.gone == [0])
    }

    // MARK: Stored form

    @Test func storedFormKeepsRules() throws {
        let rules = GroupRules(
            handshakes: .publicOnly, proposals: [3, 1, 8], requiresComponents: true, keepsSignatureKey: true,
            tolerances: [.repeatedProposals, .inlineSelfRemoves])
        var party = try self.party(rules, count: 1)
        let store = RecordStore(whole: party.members[0])
        #expect(try store.restored().configuration.rules == rules)
        let core = try #require(store.records[.core]?.copyBytes())
        #expect(Array(core.prefix(2)) == [0, 2])
        #expect(Array(core.suffix(10)) == [1, 6, 0, 1, 0, 3, 0, 8, 3, 3])
        for (offset, value) in [(10, 2), (2, 4), (1, 4)] as [(Int, UInt8)] {
            var records = store.records
            var bytes = core
            bytes[core.count - offset] = value
            records[.core] = Secret(bytes)
            expectError(.invalidStoredForm) { _ = try MLSGroup(records: records) }
        }
        // Default rules leave the stored form as it was before rules existed.
        party.members[0].configuration.rules = GroupRules()
        let older = try #require(RecordStore(whole: party.members[0]).records[.core]?.copyBytes())
        #expect(older == [0, 1] + core[2..<core.count - 10])
        var records = store.records
        records[.core] = Secret(older)
        #expect(try MLSGroup(records: records).configuration.rules == GroupRules())
    }
}
