import Testing

@testable import MLS

/// A newcomer to a group whose members have all committed is an unmerged leaf: it holds no key of the nodes above it,
/// and yet must read every commit (RFC 9420 §7.6). The official vectors do not cover it.
struct UnmergedLeafTests {
    @Test(arguments: [true, false])
    func newMemberReadsCommitsOfAllMembers(addedWithPath: Bool) throws {
        var party = try Party(7)
        for committer in party.present { try party.commit(by: committer) }
        try party.expectAgreement()
        // Not added by the newcomer's sibling, so that unmerged lists remain on both sides.
        try party.add(1, by: 0, path: addedWithPath)
        let newcomer = party.members.count - 1
        let unmerged = party.members[0].tree.nodes.contains { node in
            if case .parent(let parent) = node { !parent.unmergedLeaves.isEmpty } else { false }
        }
        #expect(unmerged)
        for committer in party.present where committer != newcomer {
            // Each from the same tree, in which the newcomer is still unmerged …
            var trial = party
            try trial.commit(by: committer)
            try trial.expectAgreement()
        }
        for committer in party.present {
            // … and one after the other.
            try party.commit(by: committer)
            try party.expectAgreement()
        }
        try party.exchangeMessages()
    }

    @Test func unmergedMembersReadEachOther() throws {
        var party = try Party(5)
        for committer in party.present { try party.commit(by: committer) }
        for _ in 0..<3 { try party.add(1, by: 1, path: false) }
        for committer in party.present.reversed() {
            try party.commit(by: committer)
            try party.expectAgreement()
        }
    }

    /// A group of 100 in which every member has committed; one value can represent any member.
    private struct FullGroup {
        var party: Party
        var group: MLSGroup
        var leafKeys: [HPKEPrivateKey]
        let signatureKeys: [SignaturePrivateKey]
        var nodeKeys: [Int: HPKEPrivateKey] = [:]

        init(_ count: Int) throws {
            var party = try Party(1)
            self.group = party.members[0]
            let bundles = try (1..<count).map { try party.bundle("member \($0)") }
            self.party = party
            var request = CommitRequest()
            request.adding = try bundles.map { try $0.keyPackage.verified(now: Party.now) }
            request.forcesPath = false
            self.leafKeys = [self.group.own.leafKey] + bundles.map(\.encryptionKey)
            self.signatureKeys = [self.group.signatureKey] + bundles.map(\.signatureKey)
            self.group = try self.group.commit(request, using: &self.party.rng).next
            for index in 0..<count {
                var member = self.member(index)
                let pending = try member.commit(.init(), using: &self.party.rng)
                self.leafKeys[index] = pending.next.own.leafKey
                self.nodeKeys.merge(pending.next.own.pathKeys) { _, new in new }
                self.group = pending.next
            }
        }

        /// The group as the member at `index` holds it: with the keys of its own path, where it is not unmerged.
        func member(_ index: Int) -> MLSGroup {
            var member = self.group
            member.own = PrivateTree(leafIndex: LeafIndex(index), leafKey: self.leafKeys[index])
            member.signatureKey = self.signatureKeys[index]
            for node in member.tree.shape.directPath(of: LeafIndex(index).node) {
                guard let parent = member.tree.parent(node), !parent.unmergedLeaves.contains(UInt32(index)) else {
                    continue
                }
                member.own.pathKeys[node.value] = self.nodeKeys[node.value]
            }
            member.own.dropStaleKeys(member.tree)
            return member
        }
    }

    @Test(arguments: [true, false])
    func newMemberOf100ReadsAllCommits(addedWithPath: Bool) throws {
        var full = try FullGroup(100)
        let bundle = try full.party.bundle("newcomer")
        var request = CommitRequest()
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        request.forcesPath = addedWithPath
        var adder = full.member(3)
        let added = try adder.commit(request, using: &full.party.rng)
        full.nodeKeys.merge(added.next.own.pathKeys) { _, new in new }
        full.leafKeys[3] = added.next.own.leafKey
        full.group = added.next
        let newcomer = try Party.join(added.welcome, bundle)
        #expect(newcomer.epochAuthenticator == added.next.epochAuthenticator)
        for index in 0..<100 {
            var committer = full.member(index)
            let pending = try committer.commit(.init(), using: &full.party.rng)
            // Old members are a sample: this test is about the newcomer.
            let old = index.isMultiple(of: 10) ? [full.member((index + 1) % 100), full.member((index + 50) % 100)] : []
            for receiver in [newcomer] + old {
                var receiver = receiver
                let staged = try receiver.process(MLSMessage(pending.message), now: nil).staged
                #expect(staged?.next?.epochAuthenticator == pending.next.epochAuthenticator)
            }
        }
    }
}
