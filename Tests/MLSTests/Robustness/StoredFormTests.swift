import Testing

@testable import MLS

/// The stored records of one group.
struct RecordStore {
    private(set) var records: [GroupRecord: Secret] = [:]

    init() {}

    /// All records of `group`.
    init(whole group: MLSGroup) {
        var copy = group
        copy.markAllChanged()
        self.save(&copy)
    }

    /// Saves what changed; returns the names of the records that were written or deleted.
    @discardableResult
    mutating func save(_ group: inout MLSGroup) -> Set<String> {
        let changes = group.drainChanges()
        if changes.replacesAll { self.records = [:] }
        for (name, content) in changes.records { self.records[name] = content }
        return Set(changes.records.keys.map(\.description))
    }

    func restored() throws -> MLSGroup { try MLSGroup(records: self.records) }
}

struct StoredFormTests {
    /// A party whose members are stored after every step and read back before the next.
    private struct StoredParty {
        var party: Party
        var stores: [RecordStore] = []

        init(_ count: Int) throws {
            self.party = try Party(count)
            try self.step()
        }

        mutating func step(sourceLocation: SourceLocation = #_sourceLocation) throws {
            while self.stores.count < self.party.members.count { self.stores.append(RecordStore()) }
            for index in self.party.present {
                self.stores[index].save(&self.party.members[index])
                #expect(
                    self.stores[index].records == RecordStore(whole: self.party.members[index]).records,
                    "incremental and complete stores must agree", sourceLocation: sourceLocation)
                self.party.members[index] = try self.stores[index].restored()
            }
            try self.party.expectAgreement(sourceLocation: sourceLocation)
        }
    }

    @Test func storedGroupBehavesTheSame() throws {
        var stored = try StoredParty(3)
        try stored.party.exchangeMessages()
        try stored.step()
        try stored.party.commit(by: 1)
        try stored.step()
        let update = try stored.party.members[2].proposeUpdate(using: &stored.party.rng)
        try stored.party.deliver(update.message, from: 2)
        try stored.step()
        #expect(stored.party.members[0].pendingProposals.map(\.reference) == [update.reference])
        var request = CommitRequest()
        request.references = [update.reference]
        try stored.party.commit(request, by: 0)
        try stored.step()
        try stored.party.add(3, by: 2)
        try stored.step()
        request = CommitRequest()
        request.removing = [LeafIndex(4), LeafIndex(5)]
        request.extensions = [Extension(type: .init(rawValue: 0xF2EE), data: [1])]
        try stored.party.commit(request, by: 0)
        try stored.step()
        for round in 0..<7 {
            try stored.party.commit(by: round % 3)
            try stored.party.exchangeMessages()
            try stored.step()
        }
        stored.party.members[0].configuration.maximumPastEpochs = 1
        try stored.step()
        #expect(stored.party.members[0].configuration.maximumPastEpochs == 1)
        try stored.party.commit(by: 0)
        try stored.step()
    }

    @Test func restoredGroupReadsOutOfOrderMessages() throws {
        var party = try Party(2)
        let messages = try (0..<20).map { try party.members[0].protect(Array("\($0)".utf8), using: &party.rng) }
        _ = try party.members[1].process(MLSMessage(messages[19]), now: nil)
        try party.commit(by: 0)
        party.members[1] = try RecordStore(whole: party.members[1]).restored()
        for index in 0..<19 {
            #expect(try party.members[1].process(MLSMessage(messages[index]), now: nil).text == "\(index)")
        }
        expectError(.keyConsumed) { _ = try party.members[1].process(MLSMessage(messages[3]), now: nil) }
    }

    @Test func messageChangesOnlyItsRatchet() throws {
        var party = try Party(4)
        var stores = [RecordStore(), RecordStore()]
        for index in 0..<2 { stores[index].save(&party.members[index]) }
        func exchange(_ party: inout Party, _ stores: inout [RecordStore]) throws -> [Set<String>] {
            let message = try party.members[0].protect([1], using: &party.rng)
            _ = try party.members[1].process(MLSMessage(message), now: nil)
            return [stores[0].save(&party.members[0]), stores[1].save(&party.members[1])]
        }
        // A sender's first message also splits the secrets on the way down to its leaf …
        let first: Set = ["ratchet/1/0", "secret/1/2", "secret/1/3", "secret/1/5"]
        #expect(try exchange(&party, &stores) == [first, first])
        // … every later one changes a single record.
        for _ in 0..<3 { #expect(try exchange(&party, &stores) == [["ratchet/1/0"], ["ratchet/1/0"]]) }
        #expect(stores[1].save(&party.members[1]).isEmpty)
    }

    @Test func commitChangesOnlyItsPath() throws {
        var party = try Party(8)
        for committer in party.present { try party.commit(by: committer) }
        let epoch = party.members[0].epoch
        let (next, oldest) = (epoch.later(by: 1), epoch.earlier(by: 5))
        var stores = [RecordStore](repeating: RecordStore(), count: 8)
        for index in party.present { stores[index].save(&party.members[index]) }
        var request = CommitRequest()
        request.wireFormat = .publicMessage
        try party.commit(request, by: 2)
        let expected: Set = [
            "core", "node/4", "node/5", "node/3", "node/7", "epoch/\(epoch)", "epoch/\(next)",
            "secret/\(next)/7",
        ]
        // Epochs beyond the limit are deleted in the same step.
        let dropped: Set = ["epoch/\(oldest)", "secret/\(oldest)/7"]
        for index in [2, 6] {
            let names = stores[index].save(&party.members[index])
            #expect(expected.isSubset(of: names))
            #expect(names.subtracting(expected).allSatisfy { $0.contains("/\(oldest)") })
            #expect(names.isSuperset(of: dropped.subtracting(["secret/\(oldest)/7"])))
            #expect(stores[index].records[.epoch(oldest)] == nil)
        }
    }

    @Test func markAllChangedReturnsEveryRecord() throws {
        var party = try Party(3)
        var store = RecordStore()
        store.save(&party.members[0])
        #expect(store.save(&party.members[0]).isEmpty)
        let old = party.members[0]
        _ = try party.members[0].protect([1], using: &party.rng)
        store.save(&party.members[0])
        party.members[0] = old
        party.members[0].markAllChanged()
        let changes = party.members[0].drainChanges()
        #expect(changes.replacesAll)
        #expect(changes.records.values.allSatisfy { $0 != nil })
        #expect(Set(changes.records.keys) == Set(RecordStore(whole: old).records.keys))
    }

    @Test func refusesUnknownStoredVersion() throws {
        let party = try Party(2)
        var records = RecordStore(whole: party.members[0]).records
        let core = try #require(records[.core]?.copyBytes())
        #expect(Array(core[..<2]) == [0, 1])
        records[.core] = Secret([0, 2] + core[2...])
        expectError(.invalidStoredForm) { _ = try MLSGroup(records: records) }
    }

    @Test func refusesMissingOrTruncatedRecord() throws {
        var party = try Party(3)
        try party.exchangeMessages()
        try party.commit(by: 0)
        try party.exchangeMessages()
        let records = RecordStore(whole: party.members[1]).records
        for (name, content) in records {
            var damaged = records
            damaged[name] = nil
            expectError(.invalidStoredForm) { _ = try MLSGroup(records: damaged) }
            let bytes = content.copyBytes()
            for length in [0, 1, bytes.count / 2, bytes.count - 1] {
                damaged[name] = Secret(bytes[..<length])
                expectError(.invalidStoredForm) { _ = try MLSGroup(records: damaged) }
            }
            damaged[name] = Secret(bytes + [0])
            expectError(.invalidStoredForm) { _ = try MLSGroup(records: damaged) }
        }
        expectError(.invalidStoredForm) { _ = try MLSGroup(records: [:]) }
    }

    @Test func refusesOverlappingSecretTreeNodes() throws {
        let party = try Party(3)
        var records = RecordStore(whole: party.members[1]).records
        let root = try #require(records[.treeSecret(epoch: 1, node: 3)])
        for node in [0, 1, 6, 7, -1, Int.max] {
            records[.treeSecret(epoch: 1, node: node)] = root
            expectError(.invalidStoredForm) { _ = try MLSGroup(records: records) }
            records[.treeSecret(epoch: 1, node: node)] = nil
        }
        _ = try MLSGroup(records: records)
    }

    @Test func refusesKeysOfAnotherMember() throws {
        let party = try Party(2)
        var records = RecordStore(whole: party.members[0]).records
        var other = party.members[0]
        other.own = party.members[1].own
        records[.core] = RecordStore(whole: other).records[.core]
        expectError(.invalidStoredForm) { _ = try MLSGroup(records: records) }
    }

    @Test func recordNamesRoundTrip() {
        let names: [GroupRecord] = [
            .core, .node(7), .epoch(.max), .treeSecret(epoch: 3, node: 7), .ratchets(epoch: 3, leaf: .max),
        ]
        for name in names { #expect(GroupRecord(name.description) == name) }
        for text in ["", "core/1", "node", "node/x", "node/-1", "epoch/", "secret/1", "ratchet/1/4294967296", "x/1"] {
            #expect(GroupRecord(text) == nil)
        }
    }
}
