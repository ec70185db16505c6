import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct ResealsTests {
    private let group = GroupID([1])

    @Test func mergesRollbacksOfAGroup() throws {
        var (reseals, step) = (Reseals(), CoreStep.at(0))
        reseals.begin(self.group, fromEpoch: Epoch(rawValue: 3), &step)
        reseals.noteSent(try .of(1), in: self.group)
        reseals.begin(self.group, fromEpoch: Epoch(rawValue: 5), &step)
        #expect(reseals[self.group]?.fromEpoch == Epoch(rawValue: 3))
        #expect(reseals[self.group]?.sent.isEmpty == true)
        let ended = (0..<2).map { _ in reseals.finish(self.group, &step)?.fromEpoch }
        #expect(ended == [Epoch(rawValue: 3), nil])
        #expect(step.changes.count == 3)
    }

    @Test func defersLoading() {
        var (reseals, step) = (Reseals(), CoreStep.at(0))
        reseals.begin(self.group, fromEpoch: Epoch(rawValue: 3), &step)
        reseals.load(self.group, isDeferred: true, &step)
        #expect(step.effects.isEmpty && reseals[self.group]?.isDeferred == true)
        reseals.load(self.group, isDeferred: false, &step)
        #expect(step.effects == [.loadSent(groupID: self.group, fromEpoch: Epoch(rawValue: 3))])
    }
}
