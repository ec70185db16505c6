import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct CopiedGroupsTests {
    private let groupID = GroupID([1])
    private var step = CoreStep(
        nowMilliseconds: 1_000_000, monotonicMilliseconds: 1_000_000, random: CoreRandom(SystemRandomNumberGenerator()))
    private var copies = CopiedGroups()

    @Test mutating func overtakesOnce() {
        let first = self.copies.overtake(self.groupID, &self.step)
        #expect(first?.changesChat == true && self.copies.isOvertaken(self.groupID))
        let second = self.copies.overtake(self.groupID, &self.step)
        #expect(second == nil && self.step.changes.count == 1)
    }

    @Test mutating func holdsBackUntilRenewed() {
        let epoch = Epoch.first.later(by: 1)
        let isRestored = self.copies.restore(self.groupID, CopiedGroup(phase: .renewing).stored)
        #expect(isRestored && self.copies.unrenewed == [self.groupID] && self.copies.heldBack == [self.groupID])
        self.copies.endReseal(of: self.groupID, upToEpoch: epoch, &self.step)
        #expect(self.copies.phase(of: self.groupID) == .renewed(epoch: epoch))
        #expect(self.copies.unrenewed.isEmpty && !self.copies.holdsBack(self.groupID))
    }

    @Test mutating func unmarkStoresNothingTwice() {
        _ = self.copies.overtake(self.groupID, &self.step)
        let first = self.copies.unmark(self.groupID, &self.step)
        let second = self.copies.unmark(self.groupID, &self.step)
        #expect(first.changesChat && !second.changesChat && self.step.changes.count == 2)
    }

    @Test mutating func refusesMalformedMemo() {
        let isRestored = self.copies.restore(self.groupID, Secret([1]))
        #expect(!isRestored && self.copies.heldBack.isEmpty)
    }
}
