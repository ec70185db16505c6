import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

struct ComponentStoredFormTests {
    /// A store that follows a group by its changes.
    private struct Store {
        var header: Secret?
        var records: [GroupRecord: Secret] = [:]

        mutating func save(_ group: inout ComponentGroup) {
            let changes = group.drainChanges()
            if let header = changes.header { self.header = header }
            changes.mls.apply(to: &self.records)
        }

        func restored(_ account: PublicKey) throws -> ComponentGroup {
            try ComponentGroup(
                StoredGroupPart(header: try #require(self.header), records: self.records), account: account)
        }
    }

    private func same(_ left: ComponentGroup, _ right: ComponentGroup) -> Bool {
        left.part.header == right.part.header && left.mls.records == right.mls.records && left.state == right.state
            && left.joinEpoch == right.joinEpoch
    }

    @Test func restartChangesNothing() throws {
        var lab = try ComponentLab(3, admins: [0, 1], retention: 60)
        let account = lab.keys[1].publicKey
        var store = Store()
        store.save(&lab.groups[1])
        #expect(try self.same(store.restored(account), lab.groups[1]))
        for step in 0..<8 {
            let sealed = try lab.say("\(step)", from: 0)
            let message = try lab.open(sealed.event, at: 1)
            lab.groups[1] = try store.restored(account)
            _ = try lab.groups[1].receive(message)
            store.save(&lab.groups[1])
            try lab.commit(.routing(ComponentLab.routing(UInt8(0x60 + step))), by: step % 2)
            store.save(&lab.groups[1])
            #expect(try self.same(store.restored(account), lab.groups[1]), "step \(step)")
        }
        lab.groups[1] = try store.restored(account)
        #expect(lab.groups[1].past.count == 5 && lab.groups[1].formerNostrGroupIDs.count == 8)
        try lab.expectAgreement()
    }

    @Test func proposalsSurviveRestart() throws {
        var lab = try ComponentLab(3)
        let departure = try lab.groups[2].leave(now: lab.now, using: &lab.rng)
        _ = try lab.groups[0].admit(lab.open(departure.event, at: 0))
        let restored = try ComponentGroup(lab.groups[0].part, account: lab.keys[0].publicKey)
        #expect(restored.dueDepartures == lab.groups[0].dueDepartures)
        #expect(Array(restored.proposalDigests.values) == [departure.digest])
        let leaver = try ComponentGroup(lab.groups[2].part, account: lab.keys[2].publicKey)
        #expect(leaver.isLeaving)
    }

    @Test func keptValuesAreStoredWhole() throws {
        var lab = try ComponentLab(3)
        let staged = try lab.stage(.selfUpdate(nil), by: 1)
        let base = try ComponentGroup(lab.groups[1].part, account: lab.keys[1].publicKey)
        let next = try ComponentGroup(staged.next.part, account: lab.keys[1].publicKey)
        #expect(self.same(base, lab.groups[1]) && self.same(next, staged.next))
    }

    @Test func generationsAreNeverUsedTwice() throws {
        var lab = try ComponentLab(2)
        var store = Store()
        let first = try lab.say("first", from: 1)
        store.save(&lab.groups[1])
        lab.groups[1] = try store.restored(lab.keys[1].publicKey)
        let second = try lab.say("second", from: 1)
        let places = try [first, second].map { try lab.groups[0].mls.place(of: lab.open($0.event, at: 0).message) }
        #expect(places.map { $0?.generation } == [0, 1])
    }

    @Test func refusesDamagedForms() throws {
        let lab = try ComponentLab(2)
        let part = lab.groups[0].part
        let account = lab.keys[0].publicKey
        expectError(.badStoredForm, "another account") {
            _ = try ComponentGroup(part, account: lab.keys[1].publicKey)
        }
        let header = part.header.copyBytes()
        let forms: [[UInt8]] = [Array(header.dropLast()), header + [0], [0, 2] + Array(header.dropFirst(2)), []]
        for damaged in forms {
            expectError(.badStoredForm) {
                _ = try ComponentGroup(
                    StoredGroupPart(header: Secret(damaged), records: part.records), account: account)
            }
        }
        expectError(.badStoredForm) {
            _ = try ComponentGroup(StoredGroupPart(header: part.header, records: [:]), account: account)
        }
    }

    @Test func damagedHeadersNeverTrap() throws {
        var lab = try ComponentLab(2)
        for step in 0..<6 { try lab.commit(.retention(seconds: UInt64(step + 1)), by: 0) }
        let part = lab.groups[0].part
        var mutator = Mutator(seed: 7)
        for _ in 0..<300 {
            let damaged = StoredGroupPart(
                header: Secret(mutator.damage(part.header.copyBytes())), records: part.records)
            _ = try? ComponentGroup(damaged, account: lab.keys[0].publicKey)
        }
    }
}
