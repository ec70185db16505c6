import MLS
import Nostr

/// The rollbacks of each group by back-dated commits: counted, stored, and followed by back-off (``RollbackRecord``).
struct Rollbacks: Sendable {
    private var records: [GroupID: RollbackRecord] = [:]

    /// Reads a stored record; false if it is malformed.
    mutating func restore(_ groupID: GroupID, _ memo: Secret) -> Bool {
        self.records[groupID] = RollbackRecord(memo)
        return self.records[groupID] != nil
    }

    /// Counts the rollback of an applied commit. Returns whether it begins a storm by its author.
    mutating func noteRollback(
        of groupID: GroupID, by committer: PublicKey, _ role: RollbackRole, _ step: inout CoreStep
    ) -> Bool {
        step.effects.append(.note(.rollback(by: role)))
        let isStorm = self.records[groupID, default: RollbackRecord()].noteRollback(
            by: committer, role, nowMilliseconds: step.nowMilliseconds, using: &step.random)
        self.store(groupID, &step)
        return isStorm
    }

    /// Counts a commit of this account that lost its race before it was merged.
    mutating func noteLostRace(of groupID: GroupID, _ step: inout CoreStep) {
        self.records[groupID, default: RollbackRecord()].noteLostRace(
            nowMilliseconds: step.nowMilliseconds, using: &step.random)
        self.store(groupID, &step)
    }

    private func store(_ groupID: GroupID, _ step: inout CoreStep) {
        step.changes.append(.putMemo(MemoName(.rollbacks, groupID), self.records[groupID]?.stored))
    }

    /// Whether this account's commits in a group wait after rollbacks; also schedules a wake-up for their end.
    mutating func backsOff(_ groupID: GroupID, _ step: inout CoreStep) -> Bool {
        guard self.records[groupID]?.waitsUntil(nowMilliseconds: step.nowMilliseconds) != nil else { return false }
        if let end = self.records[groupID]?.nextWakeUp(nowMilliseconds: step.nowMilliseconds) {
            step.effects.append(.wake(.backOff(groupID: groupID), atMilliseconds: end))
        }
        return true
    }

    /// Returns the storms that are reported at this time.
    func reportedStorms(now: UnixTime) -> [(groupID: GroupID, tally: RollbackTally)] {
        self.records.flatMap { groupID, record in record.reportedStorms(now: now).map { (groupID, $0) } }
    }

    func tally(of committer: PublicKey, in groupID: GroupID) -> RollbackTally? {
        self.records[groupID]?.tally(of: committer)
    }
}
