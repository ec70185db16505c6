import MLS
import Marmot
import Nostr

/// Changes to groups, from the wish to the commit that stands.
extension CoreModel {
    /// Takes up a change; it is durable from here on.
    mutating func intend(
        _ goal: GroupIntent.Goal, _ groupID: [UInt8], _ request: RequestID?, _ step: inout CoreStep
    ) {
        self.lastIntent += 1
        let intent = GroupIntent(number: self.lastIntent, groupID: groupID, goal: goal, request: request)
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
        self.finish(intent.request, outcome, &step)
        self.refreshBusy()
    }

    /// Ends an intent with an error, which also shows as a toast.
    mutating func abandon(_ intent: GroupIntent, _ error: any Error, _ step: inout CoreStep) {
        self.intents[intent.number] = nil
        step.changes.append(.putMemo(intent.memo, nil))
        self.fail(intent.request, error, &step)
        self.refreshBusy()
    }

    /// Goes on with the groups whose intents may go on; called at the end of every turn.
    mutating func pursueDueIntents(_ step: inout CoreStep) {
        while let groupID = self.intentsDue.popFirst() {
            // What relays hold may change the group first.
            if !groupID.isEmpty, self.isReading(groupID) {
                self.intentsBlocked.insert(groupID)
                continue
            }
            for number in self.intents.keys.sorted() {
                guard let intent = self.intents[number], intent.groupID == groupID, intent.phase == .queued,
                    self.groups[groupID]?.pending == nil
                else { continue }
                do { try self.pursue(intent, &step) } catch { self.abandon(intent, error, &step) }
            }
        }
    }

    private mutating func pursue(_ intent: GroupIntent, _ step: inout CoreStep) throws {
        switch intent.goal {
        case .found(let name, let peers, let isDirect):
            guard let invitees = peers.isEmpty ? [] : intent.invitees else {
                return self.search(peers, for: intent, &step)
            }
            let chatID = try self.found(name, invitees, isDirect: isDirect, &step)
            self.conclude(intent, .done(chatID: chatID), &step)
        case .add(let peers):
            guard let group = self.groups[intent.groupID], group.isActive, group.isAdmin else {
                throw AppCoreError(.notAllowed, "only an admin may add members (MIP-01)")
            }
            guard let invitees = intent.invitees else { return self.search(peers, for: intent, &step) }
            try self.commit(.add(invitees.filter { peers.contains($0.identity) }), for: intent, &step)
        case .remove(let peers): try self.commit(.remove(peers), for: intent, &step)
        case .rename(let name):
            guard var data = self.groups[intent.groupID]?.data else { return }
            data.name = name
            try self.commit(.update(data), for: intent, &step)
        }
    }

    private mutating func search(_ peers: [PublicKey], for intent: GroupIntent, _ step: inout CoreStep) {
        var intent = intent
        intent.phase = .searching
        self.put(intent, &step)
        self.fetchKeyPackages(of: peers, intent.number, &step)
    }

    /// Goes on with an intent whose peers' key packages were looked for.
    mutating func takeKeyPackages(
        _ number: Int, _ events: [Event], relayAnswered: Bool, _ step: inout CoreStep
    ) {
        guard var intent = self.intents[number], intent.phase == .searching else { return }
        do {
            switch intent.goal {
            case .found(_, let peers, _), .add(let peers):
                intent.invitees = try self.invitees(peers, events, relayAnswered, step.now)
            case .remove, .rename: break
            }
            intent.phase = .queued
            self.put(intent, &step)
            self.intentsDue.insert(intent.groupID)
        } catch { self.abandon(intent, error, &step) }
    }

    // MARK: What became of a commit

    /// The intent that a commit belongs to.
    func intent(of commit: EventID) -> GroupIntent? { self.intents.values.first { $0.phase.commit == commit } }

    /// A commit was merged: its intent is kept while another commit may still undo it.
    mutating func settle(_ commit: EventID, epoch: UInt64, chatID: String, _ step: inout CoreStep) {
        guard var intent = self.intent(of: commit) else { return }
        self.finish(intent.request, .done(chatID: chatID), &step)
        intent.request = nil
        intent.invitees = nil
        intent.phase = .settled(commit, epoch: epoch)
        self.put(intent, &step)
    }

    /// After a commit: intents that it displaced or undid go on if they still make sense; old ones are forgotten.
    mutating func reconsiderIntents(after report: CommitReport, of groupID: [UInt8], _ step: inout CoreStep) {
        guard let group = self.groups[groupID] else { return }
        let members = Set(group.members)
        for intent in self.intents.values.filter({ $0.groupID == groupID }).sorted(by: { $0.number < $1.number }) {
            switch intent.phase {
            case .queued, .searching: break
            case .committing(let event):
                guard event != report.event, group.pending?.event.id != event else { continue }
                self.reconsider(intent, report, members, &step)
            case .lost: self.reconsider(intent, report, members, &step)
            case .settled(let event, let epoch):
                if event != report.event, report.rolledBackFrom != nil, epoch >= report.epochBefore {
                    self.reconsider(intent, report, members, &step)
                } else if epoch + UInt64(group.profile.pastEpochs) < group.epoch {
                    self.conclude(intent, .done(chatID: nil), &step)
                }
            }
        }
        self.intentsDue.insert(groupID)
    }

    private mutating func reconsider(
        _ intent: GroupIntent, _ report: CommitReport, _ members: Set<PublicKey>, _ step: inout CoreStep
    ) {
        if let commit = intent.phase.commit { self.dropRow(Self.commitRow(commit), &step) }
        switch intent.goal.reconsidered(after: report, members: members) {
        case .reached: self.conclude(intent, .done(chatID: report.after.nostrGroupIDHex), &step)
        case .overwritten:
            self.conclude(
                intent, .failed(AppCoreError(.displaced, "another member changed the same thing at the same time")),
                &step)
        case .again(let goal):
            var intent = intent
            intent.goal = goal
            intent.phase = .queued
            self.put(intent, &step)
        }
    }

    /// The group is another value from here on: commits on the old one lead nowhere, and are made again.
    mutating func releaseIntents(of groupID: [UInt8], _ step: inout CoreStep) {
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
            guard var intent = GroupIntent(name, content) else {
                throw AppCoreError(.corruptState, "a stored change to a group cannot be read")
            }
            // The stored group decides: without its pending commit there is nothing to wait for.
            if case .committing(let event) = intent.phase, self.groups[intent.groupID]?.pending?.event.id != event {
                intent.phase = .queued
            }
            if case .lost = intent.phase { intent.phase = .queued }
            self.intents[intent.number] = intent
            self.lastIntent = max(self.lastIntent, intent.number)
            if intent.phase == .queued { self.intentsDue.insert(intent.groupID) }
        }
    }
}
