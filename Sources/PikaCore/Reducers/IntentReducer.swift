import MLS
import Marmot
import Nostr

/// Changes to groups, from the request to the final commit.
extension CoreModel {
    /// Creates an intent for a change; it is durable from here on.
    mutating func intend(
        _ goal: GroupIntent.Goal, _ groupID: GroupID, missing: MissingPeers = .fail, _ request: RequestID?,
        _ step: inout CoreStep
    ) {
        self.lastIntent += 1
        let intent = GroupIntent(
            number: self.lastIntent, groupID: groupID, goal: goal, missing: missing, request: request)
        self.put(intent, &step)
        self.intentsDue.insert(groupID)
    }

    mutating func put(_ intent: GroupIntent, _ step: inout CoreStep) {
        self.intents[intent.number] = intent
        step.changes.append(.putMemo(intent.memo, intent.stored))
        self.refreshBusy()
    }

    /// Ends an intent.
    mutating func conclude(_ intent: GroupIntent, _ outcome: ActionOutcome, _ step: inout CoreStep) {
        self.intents[intent.number] = nil
        step.changes.append(.putMemo(intent.memo, nil))
        var outcome = outcome
        if case .done(let chatID?) = outcome, !intent.left.isEmpty {
            outcome = .partlyDone(chatID: chatID, left: intent.left)
        }
        self.finish(intent.request, outcome, &step)
        self.refreshBusy()
    }

    /// Ends an intent with an error, which also shows as a toast.
    mutating func abandon(_ intent: GroupIntent, _ error: any Error, _ step: inout CoreStep) {
        self.intents[intent.number] = nil
        step.changes.append(.putMemo(intent.memo, nil))
        self.refreshBusy()
        switch intent.goal {
        case .commitDepartures: self.failedDepartures[intent.groupID] = self.groups[intent.groupID]?.epoch
        case .selfUpdate(isAutomatic: true): self.postponeRenewal(of: intent.groupID, &step)
        default: return self.fail(intent.request, error, &step)
        }
        step.effects.append(.note(.sendFailed(reason: "\(error)")))
    }

    /// Pursues the intents of all due groups; called at the end of every turn.
    mutating func pursueDueIntents(_ step: inout CoreStep) {
        while let groupID = self.intentsDue.popFirst() {
            // Events still being read from relays may change the group first.
            if groupID != .unfounded, self.isReading(groupID) {
                self.intentsBlocked.insert(groupID)
                continue
            }
            if self.backsOff(groupID, &step) { continue }
            for number in self.queuedIntents(of: groupID, &step) {
                guard let intent = self.intents[number], intent.phase == .queued, self.groups[groupID]?.pending == nil
                else { continue }
                do { try self.pursue(intent, &step) } catch { self.abandon(intent, error, &step) }
            }
        }
    }

    /// Returns the queued intents in the order of their requests. Departures come first: any other commit would void
    /// the proposal of a member who may not repeat it.
    private mutating func queuedIntents(of groupID: GroupID, _ step: inout CoreStep) -> [Int] {
        var queued = self.intents.values.filter { $0.groupID == groupID && $0.phase == .queued }
        guard !queued.isEmpty else { return [] }
        if let copied = self.copies.groups[groupID], copied.holdsBack {
            return copied.phase == .renewing
                ? queued.filter { $0.goal == .selfUpdate(isAutomatic: false) }.map(\.number).sorted() : []
        }
        self.commitDepartures(of: groupID, &step)
        queued = self.intents.values.filter { $0.groupID == groupID && $0.phase == .queued }
        return queued.sorted {
            ($0.goal == .commitDepartures ? 0 : 1, $0.number) < ($1.goal == .commitDepartures ? 0 : 1, $1.number)
        }.map(\.number)
    }

    private mutating func pursue(_ intent: GroupIntent, _ step: inout CoreStep) throws {
        switch intent.goal {
        case .found(let name, let peers, let isDirect):
            guard let invitees = peers.isEmpty ? [] : intent.invitees else {
                return self.search(peers, for: intent, &step)
            }
            let groupID = try self.found(name, invitees, isDirect: isDirect, &step)
            self.finishInviting(intent.request, into: groupID, left: intent.left, &step)
            var intent = intent
            intent.request = nil
            self.conclude(intent, .done(chatID: nil), &step)
        case .add(let peers):
            guard let group = self.groups[intent.groupID], group.isActive, group.isAdmin else {
                throw AppCoreError(.notAllowed, "only an admin may add members (MIP-01)")
            }
            guard let invitees = intent.invitees else { return self.search(peers, for: intent, &step) }
            try self.commit(.add(invitees.filter { peers.contains($0.identity) }), for: intent, &step)
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
        }
    }

    private mutating func search(_ peers: [PublicKey], for intent: GroupIntent, _ step: inout CoreStep) {
        var intent = intent
        intent.phase = .searching
        self.put(intent, &step)
        self.search(for: peers, by: .intent(intent.number), &step)
    }

    /// Continues an intent after the search for its peers' key packages.
    mutating func takeKeyPackages(
        _ number: Int, _ findings: [PublicKey: KeyPackageSearch.Finding], _ step: inout CoreStep
    ) {
        guard var intent = self.intents[number], intent.phase == .searching else { return }
        do {
            switch intent.goal {
            case .found(let name, let peers, let isDirect):
                let invitees = try self.choose(peers, findings, for: &intent)
                intent.goal = .found(name: name, peers: invitees.map(\.identity), isDirect: isDirect)
            case .add(let peers):
                let invitees = try self.choose(peers, findings, for: &intent)
                guard !invitees.isEmpty else { throw Self.failure(of: findings.mapValues(\.verdict), among: peers) }
                intent.goal = .add(invitees.map(\.identity))
            case .remove, .set, .selfDemote, .upgrade, .selfUpdate, .commitDepartures, .leave: break
            }
            for invitee in intent.invitees ?? [] {
                self.welcomes.set(findings[invitee.identity]?.relays, of: invitee.identity, &step)
            }
            intent.phase = .queued
            self.put(intent, &step)
            self.intentsDue.insert(intent.groupID)
        } catch { self.abandon(intent, error, &step) }
    }

    // MARK: Outcomes of commits

    /// Returns the intent that a commit belongs to.
    func intent(of commit: EventID) -> GroupIntent? { self.intents.values.first { $0.phase.commit == commit } }

    /// Settles the intent of a merged commit; it is kept while another commit may still undo it.
    mutating func settle(_ commit: EventID, epoch: Epoch, _ step: inout CoreStep) {
        guard var intent = self.intent(of: commit) else { return }
        guard intent.goal != .leave else {
            // This account was an admin until now; the departure itself comes next.
            intent.phase = .queued
            return self.put(intent, &step)
        }
        self.finishInviting(intent.request, into: intent.groupID, left: intent.left, &step)
        intent.request = nil
        intent.invitees = nil
        intent.phase = .settled(commit, epoch: epoch)
        self.put(intent, &step)
    }

    /// After a commit, resumes intents that it displaced or undid if they still make sense, and drops old ones.
    mutating func reconsiderIntents(after report: CommitReport, of groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID] else { return }
        for intent in self.intents.values.filter({ $0.groupID == groupID }).sorted(by: { $0.number < $1.number }) {
            switch intent.phase {
            case .queued where intent.goal == .leave && report.removedSelf:
                self.conclude(intent, .done(chatID: groupID.hex), &step)
            case .queued, .searching: break
            case .proposed(let event, _): self.reconsiderDeparture(intent, event, report, &step)
            case .committing(let event):
                guard event != report.event, group.pending?.event.id != event else { continue }
                self.reconsider(intent, report, group, &step)
            case .lost: self.reconsider(intent, report, group, &step)
            case .settled(let event, let epoch):
                if event != report.event, report.rolledBackFrom != nil, epoch >= report.epochBefore {
                    self.reconsider(intent, report, group, &step)
                } else if !epoch.isWithin(group.profile.pastEpochs, of: group.epoch) {
                    self.conclude(intent, .done(chatID: nil), &step)
                }
            }
        }
        self.intentsDue.insert(groupID)
    }

    private mutating func reconsider(
        _ intent: GroupIntent, _ report: CommitReport, _ group: MarmotGroup, _ step: inout CoreStep
    ) {
        if let commit = intent.phase.commit { self.dropRow(Self.commitRow(commit), &step) }
        switch intent.goal.reconsidered(after: report, in: group) {
        case .reached: self.conclude(intent, .done(chatID: intent.groupID.hex), &step)
        case .overwritten:
            self.conclude(
                intent, .failed(AppCoreError(.displaced, "another member changed the same thing at the same time")),
                &step)
        case .later:
            self.conclude(intent, .done(chatID: nil), &step)
            self.postponeRenewal(of: intent.groupID, &step)
        case .again(let goal): self.retryLost(intent, as: goal, after: report, &step)
        }
    }

    /// Requeues intents before the group switches to another state: commits on the old one are void, and are made
    /// again.
    mutating func releaseIntents(of groupID: GroupID, _ step: inout CoreStep) {
        self.unsureCommits.remove(groupID)
        if let pending = self.groups[groupID]?.pending { self.dropRow(Self.commitRow(pending.event.id), &step) }
        for var intent in self.intents.values where intent.groupID == groupID && intent.isOpen {
            if intent.phase.commit != nil { intent.phase = .queued }
            self.put(intent, &step)
        }
        self.intentsDue.insert(groupID)
    }

    // MARK: Restart

    mutating func restoreIntents(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .groupIntent {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard var intent = GroupIntent(name, content) else {
                throw AppCoreError(.corruptState, "a stored change to a group cannot be read")
            }
            // The stored group decides: without its pending commit there is nothing to wait for.
            if case .committing(let event) = intent.phase, self.groups[intent.groupID]?.pending?.event.id != event {
                intent.phase = .queued
            }
            if case .lost = intent.phase { intent.phase = .queued }
            if case .proposed(_, let epoch) = intent.phase, self.groups[intent.groupID]?.epoch != epoch {
                intent.phase = .queued
            }
            self.intents[intent.number] = intent
            self.outcomes.resume(intent.request)
            self.lastIntent = max(self.lastIntent, intent.number)
            if intent.phase == .queued { self.intentsDue.insert(intent.groupID) }
        }
    }
}
