import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct KeyRenewalsTests {
    private let groupID = GroupID([1])
    private let policy = SelfUpdatePolicy.standard
    private var step = CoreStep(
        nowMilliseconds: 1_000_000, monotonicMilliseconds: 1_000_000, random: CoreRandom(SystemRandomNumberGenerator()))
    private var renewals = KeyRenewals()

    private var wakes: [Int64] {
        self.step.effects.compactMap { if case .wake(.keyUpdates, let time) = $0 { time } else { nil } }
    }

    @Test mutating func checksAfterJoining() throws {
        self.renewals.noteJoin(of: self.groupID, self.policy, &self.step)
        let wake = try #require(self.wakes.last)
        let due = [wake - 1, wake, wake].map { self.renewals.dueGroups(self.policy, nowMilliseconds: $0) }
        #expect(due == [nil, [self.groupID], nil])
    }

    @Test mutating func commitsPostponeRenewalForADay() throws {
        self.renewals.noteJoin(of: self.groupID, quiet: 60_000, self.policy, &self.step)
        let first = try #require(self.wakes.last)
        self.renewals.awaitQuiet(self.groupID, 600_000, self.policy, &self.step)
        let due = self.renewals.dueGroups(self.policy, nowMilliseconds: first)
        #expect(due == [])
        self.renewals.schedule(self.policy, &self.step)
        #expect(self.wakes.last == 1_600_000)
        let end = 1_000_000 + KeyRenewals.joinDeadline
        #expect(self.renewals.awaitsQuiet(self.groupID, nowMilliseconds: end - 1))
        #expect(!self.renewals.awaitsQuiet(self.groupID, nowMilliseconds: end))
        self.renewals.noteRenewal(of: self.groupID, self.policy, &self.step)
        #expect(!self.renewals.awaitsQuiet(self.groupID, nowMilliseconds: 1_000_001))
    }

    @Test mutating func schedulesOneCheckForManyGroups() {
        for byte in 1...5 as ClosedRange<UInt8> {
            self.renewals.noteRenewal(of: GroupID([byte]), self.policy, &self.step)
        }
        #expect(self.wakes.count == 1 && self.step.changes.count == 5)
    }

    @Test mutating func neverSchedulesUnderPolicyNever() {
        self.renewals.noteRenewal(of: self.groupID, .never, &self.step)
        #expect(self.wakes.isEmpty && self.step.changes.isEmpty)
    }

    @Test mutating func removedGroupsAreNeverDue() throws {
        self.renewals.noteRenewal(of: self.groupID, self.policy, &self.step)
        self.renewals.remove(self.groupID, &self.step)
        let due = self.renewals.dueGroups(self.policy, nowMilliseconds: .max)
        #expect(due == [])
    }

    @Test mutating func refusesMalformedMemo() {
        let isMalformed = !self.renewals.restore(self.groupID, Secret([1, 2]))
        let isRestored = self.renewals.restore(self.groupID, KeyAge(renewedAt: 5).stored)
        #expect(isMalformed && isRestored)
    }
}
