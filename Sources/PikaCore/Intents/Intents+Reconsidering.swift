import MLS
import Marmot
import Nostr

/// The decisions about intents after a commit: resumed if the commit displaced or undid them and they still make sense,
/// and dropped once no commit can undo them.
extension Intents {
    /// The decision about one intent.
    struct Decision {
        let intent: GroupIntent
        /// The commit or proposal that has become void and must no longer be sent.
        var void: Void?
        let verdict: Verdict
    }

    enum Void: Equatable {
        case commit(EventID)
        case proposal(EventID)
    }

    enum Verdict: Equatable {
        case conclude(ActionOutcome)
        /// Ends it as done; the keys are renewed at a later time.
        case postponeRenewal
        /// The intent is retried, because its commit lost.
        case retry(GroupIntent.Goal)
        /// The proposal ended with its epoch.
        case proposeAgain
    }

    /// Returns the decisions after a commit in a group, in the order of the requests.
    func decisions(after report: CommitReport, in group: AccountGroup) -> [Decision] {
        self.all(in: group.groupID).compactMap { self.decision(on: $0, after: report, in: group) }
    }

    private func decision(
        on intent: GroupIntent, after report: CommitReport, in group: AccountGroup
    ) -> Decision? {
        switch intent.phase {
        case .queued where intent.goal == .leave && report.removedSelf:
            return Decision(intent: intent, verdict: .conclude(.done(chatID: ChatID(group.groupID))))
        case .queued, .searching: return nil
        case .proposed(let event, _):
            return Decision(
                intent: intent, void: .proposal(event), verdict: self.departureVerdict(on: intent, after: report))
        case .committing(let event):
            guard event != report.event, group.pendingEvent != event else { return nil }
        case .lost: break
        case .settled(let event, let epoch):
            if event != report.event, report.rolledBackFrom != nil, epoch >= report.epochBefore { break }
            guard !epoch.isWithin(group.pastEpochs, of: group.epoch) else { return nil }
            return Decision(intent: intent, verdict: .conclude(.done(chatID: nil)))
        }
        return Decision(
            intent: intent, void: intent.phase.commit.map { .commit($0) },
            verdict: self.verdict(on: intent, after: report, in: group))
    }

    private func departureVerdict(on intent: GroupIntent, after report: CommitReport) -> Verdict {
        if report.removedSelf { return .conclude(.done(chatID: ChatID(intent.groupID))) }
        // Every commit ends the proposal's epoch; only a rollback is a sign that the group is contested.
        return report.rolledBackFrom == nil ? .proposeAgain : .retry(intent.goal)
    }

    private func verdict(
        on intent: GroupIntent, after report: CommitReport, in group: AccountGroup
    ) -> Verdict {
        switch intent.goal.reconsidered(after: report, in: group) {
        case .reached: .conclude(.done(chatID: ChatID(intent.groupID)))
        case .overwritten:
            .conclude(
                .failed(AppCoreError(.displaced, "another member changed the same field at the same time")))
        case .later: .postponeRenewal
        case .again(let goal): .retry(goal)
        }
    }
}
