import MLS
import Marmot
import Nostr

/// Rollbacks by back-dated commits: counted, reported, and answered with back-off (``RollbackRecord``).
extension CoreModel {
    /// The number of times that the commit of one change may lose before the change is abandoned.
    static let maximumLosses = 10

    /// Counts the rollback of an applied commit; called after the branch that it ended was stored. Returns whether it
    /// begins a storm by its author.
    mutating func noteRollback(_ report: CommitReport, of groupID: GroupID, _ step: inout CoreStep) -> Bool {
        guard report.rolledBackFrom != nil else { return false }
        let role = self.rollbackRole(report, of: groupID)
        step.effects.append(.note(.rollback(by: role)))
        let isStorm = self.rollbacks[groupID, default: RollbackRecord()].noteRollback(
            by: report.committer, role, nowMilliseconds: step.nowMilliseconds, using: &step.random)
        self.storeRollbacks(of: groupID, &step)
        guard isStorm, let chatID = self.chatID(of: groupID) else { return false }
        step.effects.append(.note(.rollbackStorm(chatID: chatID, committer: report.committer, role)))
        return true
    }

    private func rollbackRole(_ report: CommitReport, of groupID: GroupID) -> RollbackRole {
        if report.isOwn { return .own }
        if let branch = self.abandoned[groupID], branch.epoch == report.epochBefore,
            !branch.group.members.contains(report.committer)
        {
            return .removed
        }
        return report.before.isAdmin(report.committer) ? .admin : .member
    }

    /// Leaves a group in which a storm has begun, if the configuration says so; queued changes are abandoned.
    mutating func answerStorm(in groupID: GroupID, _ step: inout CoreStep) {
        guard self.configuration.onRollbackStorm == .leave, self.groups[groupID]?.isActive == true else { return }
        let open = self.intents.values.filter { $0.groupID == groupID && $0.isOpen && $0.goal != .leave }
        for intent in open.sorted(by: { $0.number < $1.number }) where intent.phase == .queued {
            self.abandon(intent, AppCoreError.contested, &step)
        }
        guard !self.intents.values.contains(where: { $0.groupID == groupID && $0.goal == .leave }) else { return }
        self.intend(.leave, groupID, nil, &step)
    }

    private mutating func storeRollbacks(of groupID: GroupID, _ step: inout CoreStep) {
        step.changes.append(.putMemo(MemoName(.rollbacks, groupID), self.rollbacks[groupID]?.stored))
    }

    mutating func restoreRollbacks(_ name: MemoName, _ memo: Secret) -> Bool {
        let groupID = GroupID(name.key)
        self.rollbacks[groupID] = RollbackRecord(memo)
        return self.rollbacks[groupID] != nil
    }

    func rollbackStorms(now: Int64) -> [RollbackStorm] {
        self.rollbacks.flatMap { groupID, record in
            record.reportedStorms(now: now).compactMap { tally in
                self.chatID(of: groupID).map { RollbackStorm(chatID: $0, tally: tally) }
            }
        }.sorted { ($0.chatID, $0.tally.committer) < ($1.chatID, $1.tally.committer) }
    }

    // MARK: Back-off

    /// Whether own commits in a group wait after rollbacks; also schedules a wake-up for the end of the wait.
    mutating func backsOff(_ groupID: GroupID, _ step: inout CoreStep) -> Bool {
        guard self.rollbacks[groupID]?.waitsUntil(nowMilliseconds: step.nowMilliseconds) != nil else { return false }
        self.planBackOffEnd(of: groupID, &step)
        return true
    }

    private mutating func planBackOffEnd(of groupID: GroupID, _ step: inout CoreStep) {
        guard let end = self.rollbacks[groupID]?.planWake(nowMilliseconds: step.nowMilliseconds) else { return }
        step.effects.append(.wake(.backOff(groupID: groupID), atMilliseconds: end))
    }

    /// Resumes a group whose back-off may be over.
    mutating func endBackOff(of groupID: GroupID, _ step: inout CoreStep) {
        self.intentsDue.insert(groupID)
        if self.reseals[groupID]?.isDeferred == true { self.loadForReseal(of: groupID, &step) }
    }

    /// Queues a change whose commit lost, or abandons it after ``maximumLosses``.
    mutating func retryLost(
        _ intent: GroupIntent, as goal: GroupIntent.Goal, after report: CommitReport, _ step: inout CoreStep
    ) {
        if report.rolledBackFrom == nil {
            self.rollbacks[intent.groupID, default: RollbackRecord()].noteLostRace(
                nowMilliseconds: step.nowMilliseconds, using: &step.random)
            self.storeRollbacks(of: intent.groupID, &step)
        }
        var intent = intent
        intent.goal = goal
        intent.phase = .queued
        intent.losses += 1
        guard intent.losses < Self.maximumLosses else {
            return self.abandon(intent, AppCoreError.contested, &step)
        }
        self.put(intent, &step)
    }

    /// Loads the own messages of rolled-back epochs, at once or after the back-off.
    mutating func loadForReseal(of groupID: GroupID, _ step: inout CoreStep) {
        guard self.reseals[groupID] != nil else { return }
        self.reseals.load(groupID, isDeferred: self.backsOff(groupID, &step), &step)
    }
}

extension AppCoreError {
    static let contested = AppCoreError(
        .contested,
        "the change was undone \(CoreModel.maximumLosses) times by other members' commits and is given up; "
            + "pikabot status names the member")
}
