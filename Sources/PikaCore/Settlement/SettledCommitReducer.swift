import MLS
import Marmot
import Nostr

/// Changes of the selected history in groups of the second generation: undone and applied commits.
extension CoreModel {
    /// Follows a change of history: withdraws and restores messages, reports the applied commits, and makes this
    /// account's undone changes again.
    mutating func follow(
        _ move: BranchMove<ComponentBranch>, _ turn: SettlementTurn, _ step: inout CoreStep
    ) {
        let groupID = turn.groupID
        let reinstated = move.applied.filter(\.isReinstated).map(\.id)
        self.settlement.withdrawals.begin(move.undone.map(\.id), isRestored: false, of: groupID, &step)
        self.settlement.withdrawals.begin(reinstated, isRestored: true, of: groupID, &step)
        let reports = self.reports(of: move, turn)
        for report in reports { self.settleOwn(report, in: groupID, &step) }
        self.enterState(of: groupID, after: reports, turn, &step)
        for report in reports {
            step.effects.append(.note(.commit(result: report.rolledBackFrom == nil ? "applied" : "rolled_back")))
            self.deliver(.commit(CommitEvent(report)), of: groupID, &step)
            self.followCall(in: groupID, report, &step)
            if report.isOwn { self.noteRenewal(of: groupID, &step) }
            self.followCopied(groupID, report, &step)
            self.reconsiderIntents(after: report, of: groupID, &step)
            self.queueProfileRequests(of: report.added, &step)
            self.announceProfiles(after: report, of: groupID, &step)
        }
        if !reports.isEmpty { self.awaitQuiet(in: groupID, &step) }
        self.resealUnsent(of: groupID, &step)
        let horizon = move.to.epoch.earlier(by: ConvergencePolicy.standard.maximumRewind)
        self.settlement.prune(groupID, before: horizon, &step)
        self.settlement.withdrawals.forgetRepeats(of: groupID, before: horizon, &step)
        self.settlement.others.forgetOld(of: groupID, tip: move.to.epoch, &step)
        let isRenamed =
            self.groups[groupID]?.data.nostrGroupID != turn.state.routing.nostrGroupID || self.hasNewIDs(since: turn)
        let isMember = move.standing == .member
        let wasEvicted = self.catchUp.consumeEviction(of: groupID)
        if isRenamed || wasEvicted, isMember { self.readBacklog(of: groupID, &step) }
        if move.standing == .removed {
            self.failHeld(
                of: groupID, AppCoreError(.notAllowed, "this account is no longer a member of the group"), &step)
            self.linger(groupID, &step)
        }
    }

    /// Updates all state that depends on the group's, once for all commits.
    private mutating func enterState(
        of groupID: GroupID, after reports: [CommitReport], _ turn: SettlementTurn, _ step: inout CoreStep
    ) {
        self.groups.markChanged(groupID)
        // Proposals end with their epoch; those of the new one are noted as they are admitted.
        _ = self.settlement.noteDepartures([], of: groupID)
        if let group = self.groups[groupID] { self.index(group, &step) }
        // Compared with the former ones: an undone commit may have changed them too. Those of an own pending commit are
        // known before it is applied, but not read.
        if self.groups[second: groupID]?.tip.state.routing != turn.state.routing || self.hasOtherRoutes(than: turn) {
            self.resubscribe(&step)
        }
        if let removal = reports.last(where: \.removedSelf) {
            let end = removal.endOfMembership(of: self.account.publicKey)
            self.changeChat(groupID) { $0.end = end }
        } else if self.chats[groupID]?.end != nil, !self.isLeaving(groupID) {
            // The commit that removed this account was undone.
            self.changeChat(groupID) { $0.end = nil }
            self.resubscribe(&step)
        }
        self.refreshChat(groupID)
        self.showTyping(in: groupID)
        if reports.contains(where: \.removedSelf) { self.closeScreens(of: groupID, &step) }
    }

    private func isLeaving(_ groupID: GroupID) -> Bool {
        self.intents.all(in: groupID).contains { $0.goal == .leave }
    }

    // MARK: Reports

    /// Describes the applied commits, each with the states before and after it.
    private func reports(of move: BranchMove<ComponentBranch>, _ turn: SettlementTurn) -> [CommitReport] {
        guard let convergence = self.groups[second: turn.groupID]?.convergence else { return [] }
        var states: [Epoch: ComponentState] = [turn.epoch: turn.state]
        // The selected states come first.
        for branch in convergence.readableStates.reversed() { states[branch.group.epoch] = branch.group.state }
        var reports: [CommitReport] = []
        var before = states[move.fork.epoch] ?? turn.state
        for commit in move.applied {
            guard let carrier = self.carrier(of: commit.id, turn) else { continue }
            // This account cannot enter the state after its removal.
            let isEnd = move.standing != .member && commit.id == move.to.id
            let after = isEnd ? before : states[commit.epoch] ?? before
            reports.append(
                CommitReport(
                    commit, in: carrier.id, at: carrier.createdAt, for: self.account.publicKey,
                    before: GroupData(before), after: GroupData(after),
                    rolledBackFrom: move.undone.isEmpty || !reports.isEmpty ? nil : move.from.epoch))
            before = after
        }
        return reports
    }

    // MARK: Own commits

    /// Concludes the change of a commit by this account, also if the commit was undone before and is now applied again.
    private mutating func settleOwn(_ report: CommitReport, in groupID: GroupID, _ step: inout CoreStep) {
        guard report.isOwn else { return }
        if self.intents.intent(of: report.event) == nil {
            self.intents.reinstate(report.event, in: groupID, &step)
        }
        self.settle(report.event, epoch: report.epochBefore, &step)
    }
}
