import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct IntentsTests {
    private let groupID = GroupID([1])
    private var step = CoreStep(
        nowMilliseconds: 1_000_000, monotonicMilliseconds: 1_000_000, random: CoreRandom(SystemRandomNumberGenerator()))
    private var intents = Intents()

    private func event(_ byte: UInt8) throws -> EventID { try EventID(bytes: [UInt8](repeating: byte, count: 32)) }

    @Test mutating func addStoresAndMakesDue() {
        self.intents.add(.upgrade, in: self.groupID, missing: .fail, nil, &self.step)
        #expect(self.intents.hasQueued(in: self.groupID) && self.step.changes.count == 1)
        let due = [self.intents.nextDueGroup(), self.intents.nextDueGroup()]
        #expect(due == [self.groupID, nil])
    }

    @Test mutating func departuresPrecedeOtherIntents() {
        for goal in [GroupIntent.Goal.upgrade, .selfDemote, .commitDepartures] {
            self.intents.add(goal, in: self.groupID, missing: .fail, nil, &self.step)
        }
        #expect(self.intents.queued(in: self.groupID).map(\.goal) == [.commitDepartures, .upgrade, .selfDemote])
    }

    @Test mutating func blockedGroupsResumeOnce() {
        self.intents.block(self.groupID)
        var due = [self.intents.nextDueGroup()]
        for _ in 0..<2 {
            self.intents.unblock(self.groupID)
            due.append(self.intents.nextDueGroup())
        }
        #expect(due == [nil, self.groupID, nil])
    }

    @Test mutating func retryEndsAfterMaximumLosses() throws {
        self.intents.add(.upgrade, in: self.groupID, missing: .fail, nil, &self.step)
        for _ in 1..<Intents.maximumLosses {
            let intent = try #require(self.intents[1])
            let isRequeued = self.intents.retry(intent, as: .upgrade, &self.step)
            #expect(isRequeued)
        }
        let intent = try #require(self.intents[1])
        let isRequeued = self.intents.retry(intent, as: .upgrade, &self.step)
        #expect(!isRequeued)
        #expect(self.intents[1]?.losses == Intents.maximumLosses - 1)
    }

    @Test mutating func requeuesCommitsButNotSearches() throws {
        for (number, phase) in [GroupIntent.Phase.committing(try self.event(1)), .searching].enumerated() {
            self.intents.add(.upgrade, in: self.groupID, missing: .fail, nil, &self.step)
            var intent = try #require(self.intents[number + 1])
            intent.phase = phase
            self.intents.put(intent, &self.step)
        }
        #expect(self.intents.intent(of: try self.event(1))?.number == 1)
        self.intents.requeueAll(in: self.groupID, &self.step)
        #expect(self.intents.all(in: self.groupID).map(\.phase) == [.queued, .searching])
    }

    @Test mutating func failedDeparturesWaitForNextEpoch() {
        let epoch = Epoch.first.later(by: 3)
        #expect(self.intents.mayCommitDepartures(of: self.groupID, in: epoch))
        self.intents.noteFailedDepartures(of: self.groupID, in: epoch)
        #expect(!self.intents.mayCommitDepartures(of: self.groupID, in: epoch))
        #expect(self.intents.mayCommitDepartures(of: self.groupID, in: epoch.later(by: 1)))
    }

    @Test mutating func restoreVoidsCommitOfMissingGroup() throws {
        self.intents.add(.upgrade, in: self.groupID, missing: .fail, nil, &self.step)
        var intent = try #require(self.intents[1])
        intent.phase = .committing(try self.event(1))
        var restored = Intents()
        let phase = restored.restore(intent.memo, intent.stored, in: [:])?.phase
        let due = restored.nextDueGroup()
        #expect(phase == .queued && due == self.groupID)
        restored.add(.selfDemote, in: self.groupID, missing: .fail, nil, &self.step)
        #expect(restored.all.map(\.number).sorted() == [1, 2])
    }
}
