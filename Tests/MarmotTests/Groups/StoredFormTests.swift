import MLS
import Nostr
import Testing

@testable import Marmot

/// A store as the core keeps it: every change of a group is applied to the stored rows.
private struct Store {
    var header = Secret([UInt8]())
    var records: [GroupRecord: Secret] = [:]
    var parts: [GroupPart: StoredGroupPart] = [:]

    mutating func save(_ group: inout MarmotGroup) {
        let changes = group.drainChanges()
        if let header = changes.header { self.header = header }
        changes.mls.apply(to: &self.records)
        for (part, content) in changes.parts { self.parts[part] = content }
    }

    func load(_ account: PublicKey) throws -> MarmotGroup {
        try MarmotGroup(header: self.header, records: self.records, parts: self.parts, account: account)
    }
}

struct StoredFormTests {
    /// Stores every group, and expects to read the same groups back.
    private func save(
        _ stores: inout [Store], _ lab: inout Lab, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        while stores.count < lab.groups.count { stores.append(Store()) }
        for member in lab.groups.indices {
            stores[member].save(&lab.groups[member])
            let restored = try stores[member].load(lab.keys[member].publicKey)
            #expect(
                restored.contents == lab.groups[member].contents, "member \(member)", sourceLocation: sourceLocation)
            #expect(restored.isActive == lab.groups[member].isActive, sourceLocation: sourceLocation)
            #expect(restored.data == lab.groups[member].data, sourceLocation: sourceLocation)
            #expect(restored.outerKeys == lab.groups[member].outerKeys, sourceLocation: sourceLocation)
            #expect(
                restored.formerNostrGroupIDs == lab.groups[member].formerNostrGroupIDs, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: [false, true])
    func storesEveryStepCompletely(restarts: Bool) throws {
        var lab = try Lab(4, admins: [0, 1])
        var stores: [Store] = []
        func step(_ lab: inout Lab) throws {
            try self.save(&stores, &lab)
            guard restarts else { return }
            for member in lab.groups.indices {
                lab.groups[member] = try stores[member].load(lab.keys[member].publicKey)
            }
        }
        try step(&lab)
        try lab.expectAgreement()
        try step(&lab)
        var data = lab.groups[0].data
        data.name = "Renamed"
        data.nostrGroupID = Lab.groupID(0x44)
        try lab.change(.update(data), by: 0)
        try step(&lab)
        try lab.add(try lab.newcomer(), by: 1)
        try step(&lab)
        try lab.expectAgreement()
        try step(&lab)
        let leave = try lab.propose(.selfRemove, by: 3, wireFormat: .publicMessage)
        for member in [0, 1, 2, 4] { _ = lab.deliver(leave, to: member) }
        try step(&lab)
        try lab.change(.commitDepartures, by: 4)
        try step(&lab)
        try lab.change(.remove([lab.keys[1].publicKey]), by: 0)
        try step(&lab)
        for _ in 0..<7 {
            try lab.change(.selfUpdate, by: 2)
            try lab.expectAgreement()
            try step(&lab)
        }
        #expect(lab.groups.map(\.isActive) == [true, false, true, false, true])
    }

    /// Keys used between a commit and its merge are stored before the next epoch begins.
    @Test func storesMessagesBetweenCommitAndMerge() throws {
        for sender in 1...4 {
            var lab = try Lab(5)
            var stores: [Store] = []
            try self.save(&stores, &lab)
            let commit = try lab.commit(.selfUpdate, by: 0)
            let late = try (1...4).map { try lab.say("late \($0)", from: $0) }
            #expect(lab.deliver(try lab.say("between", from: sender), to: 0).label == "message")
            try self.save(&stores, &lab)
            _ = try lab.say("own", from: 0)
            try self.save(&stores, &lab)
            _ = try lab.groups[0].mergePending()
            try self.save(&stores, &lab)
            for event in late {
                #expect(lab.deliver(event, to: 0).label == "message")
                try self.save(&stores, &lab)
            }
            for member in 1...4 { #expect(lab.deliver(commit, to: member).label == "commit") }
            try lab.expectAgreement()
            try self.save(&stores, &lab)
        }
    }

    @Test func storesRolledBackGroupCompletely() throws {
        var lab = try Lab(3, admins: [0, 1])
        var stores: [Store] = []
        let better = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        lab.now += 5
        let worse = try lab.commit(.selfUpdate, by: 0)
        _ = try lab.groups[0].mergePending()
        _ = lab.deliver(worse, to: 2)
        try self.save(&stores, &lab)
        for member in [0, 2] { #expect(lab.deliver(better, to: member).label == "commit") }
        try self.save(&stores, &lab)
        try lab.expectAgreement()
        try self.save(&stores, &lab)
    }

    @Test func resolvesCommitRaceAfterRestart() throws {
        var lab = try Lab(3, admins: [0, 1])
        var stores: [Store] = []
        try self.save(&stores, &lab)
        let better = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        lab.now += 5
        for _ in 0..<3 {
            lab.now += 1
            let event = try lab.commit(.selfUpdate, by: 0)
            _ = try lab.groups[0].mergePending()
            #expect(lab.deliver(event, to: 2).label == "commit")
            let between = try lab.say("between", from: 0)
            #expect(lab.deliver(between, to: 2).label == "message")
            try self.save(&stores, &lab)
        }
        for member in [0, 2] { lab.groups[member] = try stores[member].load(lab.keys[member].publicKey) }
        for member in [0, 2] {
            let report = try #require(lab.deliver(better, to: member).report)
            #expect(report.rolledBackFrom == 4 && report.epochBefore == 1 && report.epochAfter == 2)
        }
        try self.save(&stores, &lab)
        for member in lab.groups.indices { lab.groups[member] = try stores[member].load(lab.keys[member].publicKey) }
        try lab.expectAgreement()
        try self.save(&stores, &lab)
    }

    @Test func commitWritesAreIndependentOfGroupSize() throws {
        func records(_ count: Int) throws -> Int {
            var lab = try Lab(count)
            var written = 0
            for _ in 0..<4 {
                lab.now += 1
                _ = lab.groups.indices.map { lab.groups[$0].drainChanges() }
                _ = try lab.commit(.selfUpdate, by: 0)
                let pending = lab.groups[0].drainChanges()
                _ = try lab.say("own", from: 0)
                _ = lab.groups[0].drainChanges()
                _ = try lab.groups[0].mergePending()
                let merged = lab.groups[0].drainChanges()
                let parts = (Array(pending.parts.values) + merged.parts.values).compactMap { $0?.records.count }
                written = pending.mls.records.count + merged.mls.records.count + parts.reduce(0, +)
            }
            return written
        }
        #expect(try records(64) < records(8) + 40)
    }

    // MARK: Pending and abandoned commits

    @Test func pendingCommitSurvivesRestart() throws {
        var lab = try Lab(3)
        var stores: [Store] = []
        try self.save(&stores, &lab)
        let event = try lab.commit(.add([try lab.newcomer().invitee]), by: 0)
        try self.save(&stores, &lab)
        let expected = try #require(lab.groups[0].pending)
        // Keys used afterwards stay consumed.
        #expect(lab.deliver(try lab.say("between", from: 1), to: 0).label == "message")
        try self.save(&stores, &lab)
        lab.groups[0] = try stores[0].load(lab.keys[0].publicKey)
        #expect(lab.groups[0].pending?.event == event)
        #expect(lab.groups[0].pending?.welcomes == expected.welcomes)
        #expect(lab.deliver(event, to: 0).label == "ownCommit")
        let (report, welcomes) = try lab.groups[0].mergePending()
        #expect(report.isOwn && report.added.count == 1 && welcomes == expected.welcomes)
        for member in 1...2 { #expect(lab.deliver(event, to: member).label == "commit") }
        try self.save(&stores, &lab)
        try lab.expectAgreement()
        try self.save(&stores, &lab)
    }

    @Test func restoredPendingCommitLosesToBetterOne() throws {
        var lab = try Lab(3, admins: [0, 1])
        var stores: [Store] = []
        let better = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        lab.now += 5
        let event = try lab.commit(.add([try lab.newcomer().invitee]), by: 0)
        try self.save(&stores, &lab)
        lab.groups[0] = try stores[0].load(lab.keys[0].publicKey)
        let report = try #require(lab.deliver(better, to: 0).report)
        #expect(report.displacedOwnCommit && lab.groups[0].pending == nil)
        #expect(lab.deliver(better, to: 2).label == "commit")
        #expect(lab.deliver(event, to: 0).label == "refused/lost_race")
        try lab.expectAgreement()
    }

    /// A commit was abandoned because no relay seemed to have it; but one had it, and the other members applied it.
    @Test(arguments: [false, true], [false, true])
    func returningAbandonedCommitMayWin(restarts: Bool, isAnotherThere: Bool) throws {
        var lab = try Lab(3, admins: [0, 1])
        var stores: [Store] = []
        let newcomer = try lab.newcomer()
        let given = try lab.commit(.add([newcomer.invitee]), by: 0)
        try self.save(&stores, &lab)
        lab.groups[0].clearPending()
        lab.now += 5
        let other = try lab.commit(.selfUpdate, by: 1)
        if isAnotherThere {
            _ = try lab.groups[1].mergePending()
            #expect(lab.deliver(other, to: 0).label == "commit")
            _ = try lab.say("on the branch that loses", from: 0)
        }
        try self.save(&stores, &lab)
        if restarts { lab.groups[0] = try stores[0].load(lab.keys[0].publicKey) }
        #expect(lab.deliver(given, to: 0).label == "ownCommit")
        let (report, welcomes) = try lab.groups[0].mergePending()
        #expect(report.added == [newcomer.keys.publicKey] && report.rolledBackFrom == (isAnotherThere ? 2 : nil))
        #expect(welcomes.count == 1)
        for member in 1...2 { #expect(lab.deliver(given, to: member).label == "commit") }
        try self.save(&stores, &lab)
        try lab.expectAgreement()
        try self.save(&stores, &lab)
    }

    @Test func worseOrOldAbandonedCommitStaysAbandoned() throws {
        var lab = try Lab(3, admins: [0, 1])
        let better = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        lab.now += 5
        let given = try lab.commit(.selfUpdate, by: 0)
        lab.groups[0].clearPending()
        for member in [0, 2] { #expect(lab.deliver(better, to: member).label == "commit") }
        #expect(lab.deliver(given, to: 0).label == "refused/lost_race")
        for _ in 0..<6 { try lab.change(.selfUpdate, by: 2) }
        #expect(lab.groups[0].shelved.isEmpty && lab.deliver(given, to: 0).label == "waiting/no_key")
        try lab.expectAgreement()
    }

    // MARK: Damage

    @Test func refusesDamagedHeader() throws {
        var lab = try Lab(2)
        var store = Store()
        store.save(&lab.groups[1])
        let account = lab.keys[1].publicKey
        // version, is_active, length of the keys, an epoch and its key
        let header = store.header.copyBytes()
        for length in 0..<header.count {
            store.header = Secret(header[..<length])
            expectError(.badStoredForm) { _ = try store.load(account) }
        }
        for (position, value): (Int, UInt8) in [(1, 2), (2, 2), (3, 0x3F), (4, 1), (12, 0x1F)] {
            var damaged = header
            damaged[position] = value
            store.header = Secret(damaged)
            expectError(.badStoredForm) { _ = try store.load(account) }
        }
        store.header = Secret(header + [0])
        expectError(.badStoredForm) { _ = try store.load(account) }
        store.header = Secret(header)
        expectError(.badStoredForm, "another account") { _ = try store.load(lab.keys[0].publicKey) }
        store.records[.core] = nil
        expectError(.badStoredForm) { _ = try store.load(account) }
    }

    @Test func refusesDamagedParts() throws {
        var lab = try Lab(2)
        var store = Store()
        try lab.change(.selfUpdate, by: 1)
        store.save(&lab.groups[0])
        _ = try lab.commit(.selfUpdate, by: 0)
        store.save(&lab.groups[0])
        let account = lab.keys[0].publicKey
        #expect(store.parts.count == 2)
        for (part, content) in store.parts {
            var damaged = store
            let header = content.header.copyBytes()
            for length in stride(from: 0, to: header.count, by: 7) {
                damaged.parts[part] = StoredGroupPart(header: Secret(header[..<length]), records: content.records)
                expectError(.badStoredForm) { _ = try damaged.load(account) }
            }
            damaged.parts[part] = StoredGroupPart(
                header: Secret([0, 9] + header.dropFirst(2)), records: content.records)
            expectError(.badStoredForm, "version") { _ = try damaged.load(account) }
            damaged.parts[part] = StoredGroupPart(header: Secret(header + [0]), records: content.records)
            expectError(.badStoredForm) { _ = try damaged.load(account) }
        }
    }

    @Test func damagedHeadersNeverCrash() throws {
        var lab = try Lab(3)
        for _ in 0..<2 { try lab.change(.selfUpdate, by: 0) }
        var store = Store()
        store.save(&lab.groups[1])
        let event = try lab.say("x", from: 0)
        let header = store.header.copyBytes()
        for _ in 0..<300 {
            var damaged = header
            damaged[Int.random(in: 0..<header.count, using: &lab.rng)] = UInt8.random(in: 0...255, using: &lab.rng)
            store.header = Secret(damaged)
            if var group = try? store.load(lab.keys[1].publicKey) { _ = group.ingest(event, now: lab.now) }
        }
    }

    @Test func equalGroupsHaveEqualBytes() throws {
        var lab = try Lab(3)
        for _ in 0..<5 { try lab.change(.selfUpdate, by: 0) }
        let contents = lab.groups[1].contents
        for _ in 0..<20 { #expect(lab.groups[1].contents == contents) }
    }
}
