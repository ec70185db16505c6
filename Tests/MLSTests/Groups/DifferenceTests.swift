import Testing

@testable import MLS

/// Stored forms of values that are kept beside the one in use.
struct DifferenceTests {
    /// A group in which member 1 has the values before and after a commit, and the messages sent before it.
    private struct Step {
        var party: Party
        let before: MLSGroup
        let after: MLSGroup
        /// An unread message of member 2 from before the commit.
        let late: [UInt8]
        /// A commit of member 2 that competes with the other.
        let rival: PendingCommit

        init(_ count: Int, _ change: (inout Party) throws -> Void) throws {
            var party = try Party(count)
            try party.exchangeMessages()
            var sender = party.members[2]
            self.late = try sender.protect([7], using: &party.rng)
            self.rival = try sender.commit(CommitRequest(), using: &party.rng)
            self.before = party.members[1]
            try change(&party)
            self.after = party.members[1]
            self.party = party
        }
    }

    private func expectSame(
        _ restored: MLSGroup, _ group: MLSGroup, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(restored.epoch == group.epoch, sourceLocation: sourceLocation)
        #expect(restored.epochAuthenticator == group.epochAuthenticator, sourceLocation: sourceLocation)
        #expect(restored.encodedRatchetTree == group.encodedRatchetTree, sourceLocation: sourceLocation)
        #expect(restored.context == group.context, sourceLocation: sourceLocation)
        #expect(
            RecordStore(whole: restored).records == RecordStore(whole: group).records, sourceLocation: sourceLocation)
    }

    @Test func restoresValuesAroundCommit() throws {
        let changes: [(inout Party) throws -> Void] = [
            { try $0.commit(by: 0) },
            { _ = try $0.add(1, by: 0) },
            { _ = try $0.add(4, by: 0) },
            { party in
                var request = CommitRequest()
                request.removing = [LeafIndex(3), LeafIndex(4)]
                try party.commit(request, by: 0)
            },
        ]
        for change in changes {
            var step = try Step(5, change)
            let earlier = try MLSGroup(step.before.difference(from: step.after), from: step.after)
            let later = try MLSGroup(step.after.difference(from: step.before), from: step.before)
            self.expectSame(earlier, step.before)
            self.expectSame(later, step.after)
            // The values still work: on another branch, for late messages, and in the next epoch.
            let staged = try earlier.staging(MLSMessage(step.rival.message), now: nil)
            #expect(staged.next?.epochAuthenticator == step.rival.next.epochAuthenticator)
            #expect(try later.reading(MLSMessage(step.late)).data == [7])
            step.party.members[1] = later
            try step.party.exchangeMessages()
            try step.party.commit(by: 1)
            try step.party.exchangeMessages()
        }
    }

    @Test func consumedKeysStayConsumed() throws {
        let step = try Step(3) { _ = try $0.commit(by: 0) }
        let form = step.before.difference(from: step.after)
        var current = step.after
        _ = try current.process(MLSMessage(step.late), now: nil)
        let earlier = try MLSGroup(form, from: current)
        expectError(.keyConsumed) { _ = try earlier.reading(MLSMessage(step.late)) }
        #expect(try step.before.reading(MLSMessage(step.late)).data == [7])
    }

    @Test func differenceIsSmall() throws {
        let step = try Step(24) { _ = try $0.commit(by: 0) }
        let full = RecordStore(whole: step.before).records.values.reduce(0) { $0 + $1.count }
        #expect(step.before.difference(from: step.after).count < full / 3)
        #expect(step.after.difference(from: step.before).count < full / 3)
    }

    @Test func changesLeadToOtherBranch() throws {
        let step = try Step(6) { _ = try $0.add(3, by: 0) }
        var records = RecordStore(whole: step.after).records
        let baseline = StoredGroupBaseline(step.after)
        var other = try #require(try step.before.staging(MLSMessage(step.rival.message), now: nil).next)
        other.drainChanges(from: baseline).apply(to: &records)
        #expect(records == RecordStore(whole: other).records)
        #expect(try MLSGroup(records: records).epochAuthenticator == step.rival.next.epochAuthenticator)
        // From here on the changes are tracked again.
        let changes = other.drainChanges()
        #expect(changes.records.isEmpty && !changes.replacesAll)
    }

    @Test func baselineFollowsChanges() throws {
        var party = try Party(3)
        var group = party.members[1]
        var store = RecordStore()
        store.save(&group)
        var baseline = StoredGroupBaseline(group)
        var records = store.records
        for number in 0..<3 {
            let text = try party.members[0].protect([UInt8(number)], using: &party.rng)
            _ = try group.process(MLSMessage(text), now: nil)
            let changes = group.drainChanges()
            changes.apply(to: &records)
            baseline.note(changes)
        }
        let changes = group.drainChanges(from: baseline)
        #expect(changes.records.isEmpty)
        #expect(records == RecordStore(whole: group).records)
    }

    @Test func damagedFormsNeverTrap() throws {
        let step = try Step(3) { _ = try $0.add(3, by: 0) }
        let forms: [(form: [UInt8], base: MLSGroup)] = [
            (step.before.difference(from: step.after).copyBytes(), step.after),
            (step.after.difference(from: step.before).copyBytes(), step.before),
        ]
        var mutator = Mutator(46)
        for (form, base) in forms {
            for length in [0, 1, 2, form.count / 2, form.count - 1] {
                expectError(.invalidStoredForm) { _ = try MLSGroup(Secret(form.prefix(length)), from: base) }
            }
            expectError(.invalidStoredForm) { _ = try MLSGroup(Secret(form + [0]), from: base) }
            for _ in 0..<400 { _ = try? MLSGroup(Secret(mutator.mutate(form)), from: base) }
        }
    }

    @Test func refusesDamagedForms() throws {
        let step = try Step(3) { _ = try $0.commit(by: 0) }
        let form = step.before.difference(from: step.after).copyBytes()
        expectError(.invalidStoredForm) { _ = try MLSGroup(Secret(form.dropLast()), from: step.after) }
        expectError(.invalidStoredForm) { _ = try MLSGroup(Secret([0, 2] + form.dropFirst(2)), from: step.after) }
        expectError(.invalidStoredForm) { _ = try MLSGroup(Secret([]), from: step.after) }
        let stranger = try Party(3, seed: 9).members[0]
        expectError(.invalidStoredForm) { _ = try MLSGroup(Secret(form), from: stranger) }
        var later = step.party
        try later.commit(by: 0)
        try later.commit(by: 0)
        expectError(.invalidStoredForm) { _ = try MLSGroup(Secret(form), from: later.members[1]) }
    }
}
