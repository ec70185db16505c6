import Testing

@testable import MLS

/// Kept states of several branches: trial reading of messages, and changes from one branch to another.
struct BranchTests {
    /// Three members; members 0 and 1 commit in the same epoch, and member 2 receives both commits.
    private struct Fork {
        var party: Party
        let base: MLSGroup
        let commits: [PendingCommit]

        init() throws {
            var party = try Party.withComponents()
            var commits: [PendingCommit] = []
            for committer in [0, 1] {
                commits.append(
                    try party.members[committer].commit(
                        .changing(AppDataUpdate(0x8001, .update([UInt8(committer)]))), using: &party.rng))
            }
            (self.party, self.base, self.commits) = (party, party.members[2], commits)
        }
    }

    @Test func stagingChangesNothing() throws {
        var fork = try Fork()
        let before = RecordStore(whole: fork.base).records
        for commit in fork.commits {
            for _ in 0..<2 {
                let staged = try fork.base.staging(MLSMessage(commit.message), now: nil)
                #expect(staged.next?.epochAuthenticator == commit.next.epochAuthenticator)
            }
        }
        #expect(RecordStore(whole: fork.base).records == before)
        let text = try fork.party.members[0].protect([1], using: &fork.party.rng)
        expectError(.invalidCommit) { _ = try fork.base.staging(MLSMessage(text), now: nil) }
    }

    @Test func readsMessagesOfEachBranch() throws {
        var fork = try Fork()
        let branches = try fork.commits.map {
            try #require(try fork.base.staging(MLSMessage($0.message), now: nil).next)
        }
        for (position, commit) in fork.commits.enumerated() {
            var sender = commit.next
            let text = try sender.protect([UInt8(position)], using: &fork.party.rng)
            // A message witnesses the branch on which it was sent, and no other; its key stays.
            for _ in 0..<2 {
                #expect(try branches[position].reading(MLSMessage(text)).data == [UInt8(position)])
            }
            expectError(.decryptionFailed) { _ = try branches[1 - position].reading(MLSMessage(text)) }
            expectError(.futureEpoch) { _ = try fork.base.reading(MLSMessage(text)) }
        }
        var sender = fork.commits[0].next
        let proposal = try sender.propose(.selfRemove, using: &fork.party.rng).message
        expectError(.malformed) { _ = try branches[0].reading(MLSMessage(proposal)) }
    }

    @Test func lateHandshakesNeedTheirKeptState() throws {
        var fork = try Fork()
        var live = try #require(try fork.base.staging(MLSMessage(fork.commits[0].message), now: nil).next)
        let rival = try MLSMessage(fork.commits[1].message)
        expectError(.pastEpoch) { _ = try live.process(rival, now: nil) }
        // The kept state has the membership key of its epoch.
        #expect(try fork.base.staging(rival, now: nil).next != nil)
        var forged = fork.commits[1].message
        forged[forged.count - 1] ^= 1
        expectError(.badMembershipTag) { _ = try fork.base.staging(MLSMessage(forged), now: nil) }
        _ = try live.protect([1], using: &fork.party.rng)
    }

    @Test func changingBranchKeepsConsumedKeys() throws {
        var fork = try Fork()
        let early = try (0..<4).map { try fork.party.members[0].protect([UInt8($0)], using: &fork.party.rng) }
        let other = try fork.party.members[1].protect([9], using: &fork.party.rng)
        // The branch's state was kept before these messages of the base epoch arrived.
        var live = try #require(try fork.base.staging(MLSMessage(fork.commits[0].message), now: nil).next)
        var rival = try #require(try fork.base.staging(MLSMessage(fork.commits[1].message), now: nil).next)
        for position in [0, 2] { _ = try live.process(MLSMessage(early[position]), now: nil) }
        _ = try rival.process(MLSMessage(early[1]), now: nil)
        _ = try rival.process(MLSMessage(other), now: nil)
        var changed = rival.withoutKeys(consumedBy: live)
        #expect(changed.epochAuthenticator == rival.epochAuthenticator)
        for position in 0..<3 {
            expectError(.keyConsumed) { _ = try changed.process(MLSMessage(early[position]), now: nil) }
        }
        expectError(.keyConsumed) { _ = try changed.process(MLSMessage(other), now: nil) }
        #expect(try changed.process(MLSMessage(early[3]), now: nil).text == "\u{3}")
        // The epochs after the fork have different keys, so none of their keys are removed.
        var sender = fork.commits[1].next
        let text = try sender.protect([7], using: &fork.party.rng)
        #expect(try changed.process(MLSMessage(text), now: nil).text == "\u{7}")
        #expect(try RecordStore(whole: changed).restored().epoch == 2)
    }

    @Test func ownKeysStayConsumedAfterChange() throws {
        var fork = try Fork()
        var live = fork.party.members[0]
        let kept = live
        _ = try live.protect([1], using: &fork.party.rng)
        let used = try live.messages.secretTree.nextKey(of: LeafIndex(0), .application).generation
        let changed = kept.withoutKeys(consumedBy: live)
        #expect(try changed.messages.secretTree.nextKey(of: LeafIndex(0), .application).generation == used)
        // In both directions, the ratchet that is ahead is kept.
        let same = live.withoutKeys(consumedBy: kept)
        #expect(RecordStore(whole: same).records == RecordStore(whole: changed).records)
    }

    @Test func changedKeysAreStored() throws {
        var fork = try Fork()
        var live = fork.party.members[2]
        var store = RecordStore()
        store.save(&live)
        var used = live
        let message = try fork.party.members[0].protect([1], using: &fork.party.rng)
        _ = try used.process(MLSMessage(message), now: nil)
        var changed = live.withoutKeys(consumedBy: used)
        store.save(&changed)
        #expect(store.records == RecordStore(whole: changed).records)
        var restored = try store.restored()
        expectError(.keyConsumed) { _ = try restored.process(MLSMessage(message), now: nil) }
    }

    @Test func keptStateForgetsExpiredEpochs() throws {
        var party = try Party(2)
        var messages: [[UInt8]] = []
        for _ in 0..<4 {
            messages.append(try party.members[0].protect([1], using: &party.rng))
            try party.commit(by: 0)
        }
        var kept = party.members[1]
        var store = RecordStore()
        store.save(&kept)
        #expect(kept.epoch == 5)
        kept.deleteMessageSecrets(before: 3)
        store.save(&kept)
        #expect(store.records == RecordStore(whole: kept).records)
        for (epoch, message) in zip(1..., messages) {
            let message = try MLSMessage(message)
            if epoch < 3 {
                expectError(.pastEpoch) { _ = try kept.reading(message) }
            } else {
                #expect(try kept.reading(message).data == [1])
            }
        }
    }

    @Test func copiesShareTree() throws {
        let fork = try Fork()
        let staged = try fork.base.staging(MLSMessage(fork.commits[0].message), now: nil)
        let next = try #require(staged.next)
        // A commit without path copies no node.
        for (old, new) in zip(fork.base.members, next.members) { #expect(old.leaf === new.leaf) }
        let (old, new) = (fork.base.tree.nodes.chunks, next.tree.nodes.chunks)
        #expect(!old.isEmpty && old.map { address(of: $0) } == new.map { address(of: $0) })
    }

    @Test func openedWelcomeNamesInviter() throws {
        var party = try Party.withComponents(3)
        let bundle = try party.bundle("newcomer")
        var request = CommitRequest()
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        let pending = try party.commit(request, by: 1)
        guard case .welcome(let welcome) = try MLSMessage(#require(pending.welcome)) else {
            Issue.record("expected a Welcome")
            return
        }
        let opened = try MLSGroup.open(welcome, with: bundle, configuration: party.configuration)
        #expect(opened.signer == LeafIndex(1))
        #expect(opened.group.epochAuthenticator == pending.next.epochAuthenticator)
        #expect(opened.group.configuration.rules == Party.componentRules)
    }
}
