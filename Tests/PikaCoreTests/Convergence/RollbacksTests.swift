import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct RollbacksTests {
    private let groupID = GroupID([1])
    private let member: PublicKey
    private var step = CoreStep(
        nowMilliseconds: 1_000_000, monotonicMilliseconds: 1_000_000, random: CoreRandom(SystemRandomNumberGenerator()))
    private var rollbacks = Rollbacks()

    init() {
        var random = SystemRandomNumberGenerator()
        self.member = KeyPair.generate(using: &random).publicKey
    }

    private var wakes: Int { self.step.effects.count { if case .wake(.backOff, _) = $0 { true } else { false } } }

    @Test mutating func backsOffAfterSecondLoss() {
        self.rollbacks.noteLostRace(of: self.groupID, &self.step)
        let first = self.rollbacks.backsOff(self.groupID, &self.step)
        self.rollbacks.noteLostRace(of: self.groupID, &self.step)
        let second = [
            self.rollbacks.backsOff(self.groupID, &self.step), self.rollbacks.backsOff(self.groupID, &self.step),
        ]
        #expect(!first && second == [true, true] && self.wakes == 1)
        let other = self.rollbacks.backsOff(GroupID([2]), &self.step)
        #expect(!other)
    }

    @Test mutating func reportsStormOnce() {
        let storms = (0..<RollbackRecord.stormThreshold + 2).map { _ in
            self.rollbacks.noteRollback(of: self.groupID, by: self.member, .admin, &self.step)
        }
        #expect(storms.count { $0 } == 1 && storms[RollbackRecord.stormThreshold - 1])
        #expect(self.rollbacks.reportedStorms(now: self.step.now).map(\.groupID) == [self.groupID])
        #expect(
            self.rollbacks.tally(of: self.member, in: self.groupID)?.count == RollbackRecord.stormThreshold + 2)
    }
}
