import MLS
import Marmot
import Nostr

/// Coordinates changes to groups (``Intents``), from the request to the final commit.
extension CoreModel {
    /// Creates an intent for a change; it is durable from here on.
    mutating func addIntent(
        _ goal: GroupIntent.Goal, _ groupID: GroupID, missing: MissingPeers = .fail, successor: PublicKey? = nil,
        _ request: RequestID?, _ step: inout CoreStep
    ) {
        self.intents.add(goal, in: groupID, missing: missing, successor: successor, request, &step)
        self.refreshBusy()
    }

    mutating func put(_ intent: GroupIntent, _ step: inout CoreStep) {
        self.intents.put(intent, &step)
        self.refreshBusy()
    }

    /// Ends an intent.
    mutating func conclude(_ intent: GroupIntent, _ outcome: ActionOutcome, _ step: inout CoreStep) {
        self.intents.remove(intent, &step)
        var outcome = outcome
        if case .done(let chatID?) = outcome, !intent.left.isEmpty {
            outcome = .partlyDone(chatID: chatID, left: intent.left)
        }
        self.finish(intent.request, outcome, &step)
        self.refreshBusy()
    }

    /// Ends an intent with an error, which also shows as a toast.
    mutating func abandon(_ intent: GroupIntent, _ error: any Error, _ step: inout CoreStep) {
        self.intents.remove(intent, &step)
        self.refreshBusy()
        switch intent.goal {
        case .commitDepartures:
            self.intents.noteFailedDepartures(of: intent.groupID, in: self.groups[intent.groupID]?.epoch)
        case .selfUpdate(isAutomatic: true): self.postponeRenewal(of: intent.groupID, &step)
        default: return self.fail(intent.request, error, &step)
        }
        step.effects.append(.note(.sendFailed(reason: "\(error)")))
    }

    /// Pursues the intents of all due groups; called at the end of every turn.
    mutating func advanceDueIntents(_ step: inout CoreStep) {
        while let groupID = self.intents.nextDueGroup() {
            // Events still being read from relays may change the group first.
            if groupID != .notYetCreated, self.isReading(groupID) {
                self.intents.block(groupID)
                continue
            }
            if self.groups[second: groupID] != nil {
                self.advanceSettlingIntents(of: groupID, &step)
                continue
            }
            if self.convergence.backsOff(groupID, &step) { continue }
            for number in self.queuedIntents(of: groupID, &step) {
                guard let intent = self.intents[number], intent.phase == .queued,
                    self.groups[groupID]?.hasPendingCommit != true
                else { continue }
                do { try self.advanceIntent(intent, &step) } catch { self.abandon(intent, error, &step) }
            }
        }
    }

    /// Returns the queued intents that may proceed, in order.
    private mutating func queuedIntents(of groupID: GroupID, _ step: inout CoreStep) -> [Int] {
        guard self.intents.hasQueued(in: groupID) else { return [] }
        if self.convergence.copies.holdsBack(groupID) {
            guard self.convergence.copies.phase(of: groupID) == .renewing else { return [] }
            return self.intents.queued(in: groupID).filter { $0.goal == .selfUpdate(isAutomatic: false) }.map(\.number)
        }
        self.commitDepartures(of: groupID, &step)
        return self.intents.queued(in: groupID).map(\.number)
    }

    private mutating func advanceIntent(_ intent: GroupIntent, _ step: inout CoreStep) throws {
        switch intent.goal {
        case .found(let name, let peers, let isDirect, _):
            if intent.choseGeneration, intent.invitees?.generation == .v2, self.keyPackages.device.key == nil,
                self.keyPackages.device.refusal != nil
            {
                // The account's signer has refused the proof since the choice, which left the first generation only.
                var intent = intent
                intent.goal = .found(name: name, peers: peers, isDirect: isDirect, groupProtocol: .auto)
                intent.choseGeneration = false
                return self.searchInvitees(for: intent, &step)
            }
            guard let invitees = peers.isEmpty ? self.nobody(for: intent) : intent.invitees else {
                return self.searchInvitees(for: intent, &step)
            }
            // The account's signer may still have to prove this device's key.
            guard let groupID = try self.found(name, invitees, isDirect: isDirect, &step) else { return }
            self.showCreatedChat(of: groupID, &step)
            self.finishInviting(intent.request, into: groupID, left: intent.left, &step)
            var intent = intent
            intent.request = nil
            self.conclude(intent, .done(chatID: nil), &step)
        case .add(let peers):
            guard let group = self.groups[intent.groupID], group.isActive, group.isAdmin else {
                throw AppCoreError(.notAllowed, "only an admin may add members (MIP-01)")
            }
            guard let invitees = intent.invitees else { return self.searchInvitees(for: intent, &step) }
            try self.commit(.add(invitees.firsts(among: peers)), for: intent, &step)
        case .remove(let peers): try self.commit(.remove(peers), for: intent, &step)
        case .set(let field):
            guard var data = self.groups[intent.groupID]?.data else { return }
            field.apply(to: &data)
            try self.commit(.update(data), for: intent, &step)
        case .selfDemote: try self.commit(.selfDemote, for: intent, &step)
        case .upgrade: try self.commit(.upgrade, for: intent, &step)
        case .selfUpdate: try self.commit(.selfUpdate, for: intent, &step)
        case .commitDepartures:
            guard self.groups[intent.groupID]?.dueDepartures.isEmpty == false else {
                return self.conclude(intent, .done(chatID: nil), &step)
            }
            try self.commit(.commitDepartures, for: intent, &step)
        case .leave: try self.proposeDeparture(intent, &step)
        case .disband, .enableDisbanding:
            throw AppCoreError(.notAllowed, "only groups of the second generation can be disbanded")
        }
    }

    /// Searches for the key packages of the peers that an intent is to invite.
    mutating func searchInvitees(for intent: GroupIntent, _ step: inout CoreStep) {
        let peers: [PublicKey]
        switch intent.goal {
        case .found(_, let invited, _, _): peers = invited
        case .add(let added): peers = added
        default: return
        }
        var intent = intent
        intent.phase = .searching
        self.put(intent, &step)
        self.search(
            for: peers, by: .intent(intent.number), for: .invitation(self.groupProtocol(of: intent)), &step)
    }

    /// The invitees of a group without any, in the generation that the intent asks for.
    private func nobody(for intent: GroupIntent) -> ChosenInvitees {
        self.groupProtocol(of: intent) == .v1 ? .first([]) : .second([])
    }

    /// Continues an intent after the search for its peers' key packages.
    mutating func applyKeyPackages(
        _ number: Int, _ findings: [PublicKey: KeyPackageFinding], _ step: inout CoreStep
    ) {
        guard var intent = self.intents[number], intent.phase == .searching else { return }
        do {
            switch intent.goal {
            case .found(let name, let peers, let isDirect, let groupProtocol):
                let invitees = try self.choose(peers, findings, for: &intent)
                intent.choseGeneration = groupProtocol == .auto
                // The choice stands, also if a restart repeats the search.
                intent.goal = .found(
                    name: name, peers: invitees.identities, isDirect: isDirect,
                    groupProtocol: invitees.generation == .v1 ? .v1 : .v2)
            case .add(let peers):
                let invitees = try self.choose(peers, findings, for: &intent)
                guard !invitees.identities.isEmpty else {
                    throw InviteeChoice.failure(
                        of: findings.mapValues { $0.verdict(in: invitees.generation) }, among: peers)
                }
                intent.goal = .add(invitees.identities)
            case .remove, .set, .selfDemote, .upgrade, .selfUpdate, .commitDepartures, .leave, .disband,
                .enableDisbanding:
                break
            }
            if let invitees = intent.invitees { self.invitations.noteRelays(of: invitees, findings, &step) }
            intent.phase = .queued
            self.put(intent, &step)
            self.intents.resume(intent.groupID)
        } catch { self.abandon(intent, error, &step) }
    }

    // MARK: Outcomes of commits

    /// Settles the intent of a merged commit; it is kept while another commit may still undo it.
    mutating func settle(_ commit: EventID, epoch: Epoch, _ step: inout CoreStep) {
        guard var intent = self.intents.intent(of: commit) else { return }
        guard intent.goal != .leave else {
            // The successor is an admin now, or this account no longer is; the next step follows.
            intent.phase = .queued
            return self.put(intent, &step)
        }
        self.finishInviting(intent.request, into: intent.groupID, left: intent.left, &step)
        intent.request = nil
        intent.invitees = nil
        intent.phase = .settled(commit, epoch: epoch)
        self.put(intent, &step)
    }

    /// Carries out the decisions about a group's intents after a commit.
    mutating func reconsiderIntents(after report: CommitReport, of groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID] else { return }
        for decision in self.intents.decisions(after: report, in: group) {
            switch decision.void {
            case .commit(let event):
                // In the second generation an undone commit may still win, so the other relays receive it too.
                if self.groups[second: groupID] == nil { self.dropRow(Self.commitRow(event), &step) }
            case .proposal(let event): self.dropRow(Self.proposalRow(event), &step)
            case nil: break
            }
            switch decision.verdict {
            case .conclude(let outcome): self.conclude(decision.intent, outcome, &step)
            case .postponeRenewal:
                self.conclude(decision.intent, .done(chatID: nil), &step)
                self.postponeRenewal(of: groupID, &step)
            case .retry(let goal): self.retryLost(decision.intent, as: goal, after: report, &step)
            case .proposeAgain:
                var intent = decision.intent
                intent.phase = .queued
                self.put(intent, &step)
            }
        }
        self.intents.resume(groupID)
    }

    /// Requeues intents before the group switches to another state: commits on the old one are void, and are made
    /// again.
    mutating func releaseIntents(of groupID: GroupID, _ step: inout CoreStep) {
        self.convergence.endUnconfirmedCommit(of: groupID)
        if let pending = self.groups[groupID]?.pendingEvent { self.dropRow(Self.commitRow(pending), &step) }
        self.intents.requeueAll(in: groupID, &step)
        self.refreshBusy()
    }

    // MARK: Restart

    mutating func restoreIntents(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        let groups = self.groups.all
        for (name, content) in memos where name.kind == .groupIntent {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard let intent = self.intents.restore(name, content, in: groups) else {
                throw AppCoreError(.corruptState, "a stored change to a group cannot be read")
            }
            self.inbox.resume(intent.request)
        }
    }
}
