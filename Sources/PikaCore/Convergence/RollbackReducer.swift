import MLS
import Marmot
import Nostr

/// Reports rollbacks by back-dated commits, and backs off after them (``Rollbacks``).
extension CoreModel {
    /// Counts the rollback of an applied commit; called after the branch that it ended was stored. Returns whether it
    /// begins a storm by its author.
    mutating func noteRollback(_ report: CommitReport, of groupID: GroupID, _ step: inout CoreStep) -> Bool {
        guard report.rolledBackFrom != nil else { return false }
        let role = self.rollbackRole(report, of: groupID)
        let isStorm = self.convergence.noteRollback(of: groupID, by: report.committer, role, &step)
        guard isStorm, let chatID = self.chatID(of: groupID) else { return false }
        step.effects.append(.note(.rollbackStorm(chatID: chatID, committer: report.committer, role)))
        return true
    }

    private func rollbackRole(_ report: CommitReport, of groupID: GroupID) -> RollbackRole {
        if report.isOwn { return .own }
        if self.convergence.branches.hadRemoved(committerOf: report, from: groupID) { return .removed }
        return report.before.isAdmin(report.committer) ? .admin : .member
    }

    /// Leaves a group in which a storm has begun, if the configuration requires it; queued changes are abandoned.
    mutating func leaveOnStorm(in groupID: GroupID, _ step: inout CoreStep) {
        guard self.configuration.onRollbackStorm == .leave, self.groups[groupID]?.isActive == true else { return }
        for intent in self.intents.all(in: groupID) where intent.phase == .queued && intent.goal != .leave {
            self.abandon(intent, AppCoreError.contested, &step)
        }
        guard !self.intents.contains(.leave, in: groupID) else { return }
        self.addIntent(.leave, groupID, nil, &step)
    }

    func rollbackStorms(now: UnixTime) -> [RollbackStorm] {
        self.convergence.rollbacks.reportedStorms(now: now).compactMap { groupID, tally in
            self.chatID(of: groupID).map { RollbackStorm(chatID: $0, tally: tally) }
        }.sorted { ($0.chatID, $0.tally.committer) < ($1.chatID, $1.tally.committer) }
    }

    // MARK: Back-off

    /// Resumes a group whose back-off may be over.
    mutating func endBackOff(of groupID: GroupID, _ step: inout CoreStep) {
        self.intents.resume(groupID)
        self.resumeReseal(of: groupID, &step)
    }

    /// Loads the messages of a deferred reseal, unless the group still backs off.
    mutating func resumeReseal(of groupID: GroupID, _ step: inout CoreStep) {
        if self.delivery.reseal(of: groupID)?.isDeferred == true { self.loadForReseal(of: groupID, &step) }
    }

    /// Queues a change whose commit lost, or abandons it after ``Intents/maximumLosses``.
    mutating func retryLost(
        _ intent: GroupIntent, as goal: GroupIntent.Goal, after report: CommitReport, _ step: inout CoreStep
    ) {
        if report.rolledBackFrom == nil {
            self.convergence.noteLostRace(of: intent.groupID, &step)
        }
        guard self.intents.retry(intent, as: goal, &step) else {
            return self.abandon(intent, AppCoreError.contested, &step)
        }
        self.refreshBusy()
    }

    /// Loads this account's messages of rolled-back epochs, at once or after the back-off.
    mutating func loadForReseal(of groupID: GroupID, _ step: inout CoreStep) {
        guard self.delivery.reseal(of: groupID) != nil else { return }
        let isDeferred = self.convergence.backsOff(groupID, &step)
        self.delivery.loadForReseal(of: groupID, isDeferred: isDeferred, &step)
    }
}

extension AppCoreError {
    static let contested = AppCoreError(
        .contested,
        "other members' commits undid the change \(Intents.maximumLosses) times, so it was abandoned; "
            + "pikabot status names the member")
}
