import MLS
import Marmot
import Nostr

/// Kind 445 events: messages, commits, proposals.
extension CoreModel {
    mutating func receiveGroupEvent(_ event: Event, _ step: inout CoreStep) {
        // An event of a group not joined yet is not recorded as seen: it is read again with the group's backlog.
        guard let groupID = self.groups.group(of: event) else {
            return step.refuse(.unknownGroup, "no group has the event's h tag", event.id)
        }
        if self.ingest(event, into: groupID, &step) { self.retryWaiting(of: groupID, &step) }
    }

    /// Ingests an event; true if waiting events may be readable now: the epoch changed, or a missing proposal arrived.
    private mutating func ingest(_ event: Event, into groupID: GroupID, _ step: inout CoreStep) -> Bool {
        // Waiting events are ingested within the turn of another event.
        let crashes = self.crashes
        let outer = crashes.enter(.event(event.id), of: .group(groupID), .ingest)
        defer { crashes.leave(outer) }
        if self.groups[second: groupID] != nil { return self.ingestSettling(event, into: groupID, &step) }
        guard let disposition = self.groups[first: groupID]?.ingest(event, now: step.now) else { return false }
        crashes.reach(.reduce)
        let decision = BranchDecision(disposition)
        if case .hold(let reason) = decision {
            self.hold(event, of: groupID, reason, &step)
            return false
        }
        self.forgetWaiting(event.id, &step)
        if self.groups[first: groupID]?.hasChangedParts == true { self.groups.markChanged(groupID) }
        switch decision {
        case .hold: return false
        case .refuse(let refusal):
            self.refuse(event, of: groupID, refusal, &step)
            return false
        case .rollBack(_, let report):
            self.remember(event.id, &step)
            self.applyCommit(report, of: groupID, &step)
            return true
        case .apply(let change):
            self.remember(event.id, &step)
            return self.apply(change, by: event, to: groupID, &step)
        }
    }

    /// Parks an event that cannot be opened yet.
    private mutating func hold(
        _ event: Event, of groupID: GroupID, _ reason: WaitingReason, _ step: inout CoreStep
    ) {
        // An event that no key opens may belong to any candidate.
        let groups = reason == .noKey ? self.groups.candidates(for: event) : [groupID]
        if reason == .noKey {
            for group in groups where self.openForEarlierMembership(event, of: group, &step) { return }
        }
        let isNew = self.keep(event, of: groupID, reason, &step)
        if reason == .futureTime { self.inbound.waiting.awaitClock(event, &step) }
        // A waiting event was compared when it arrived.
        if isNew { for group in groups { self.compareRivals(of: group, with: [event], &step) } }
    }

    private mutating func refuse(
        _ event: Event, of groupID: GroupID, _ refusal: Refusal, _ step: inout CoreStep
    ) {
        // Do not record an event that may be accepted once the clock is right, or after this account has rejoined.
        let isFinal = !refusal.mayBeAcceptedLater && self.groups[groupID]?.isActive != false
        if isFinal { self.rememberRefused(event.id, &step) }
        step.refuse(code: refusal.reason, refusal.detail, event.id, chatID: self.chatID(of: groupID))
        if isFinal { self.keepAbandoned(of: groupID, at: nil, &step) }
    }

    /// Carries out a change of the current branch; true if waiting events may be readable now.
    private mutating func apply(
        _ change: BranchDecision.Change, by event: Event, to groupID: GroupID, _ step: inout CoreStep
    ) -> Bool {
        switch change {
        case .message(let message):
            self.groups.markChanged(groupID)
            self.compareClock(with: message, sentAt: event.createdAt, &step)
            let role = self.role(of: message.rumor.pubkey, inEpoch: message.epoch, of: groupID)
            self.receiveMessage(message, role, of: groupID, &step)
        case .commit(let report):
            self.applyCommit(report, of: groupID, &step)
            return true
        case .ownCommit:
            self.confirmCommit(event.id, of: groupID, &step)
            return true
        case .proposal(let proposal):
            self.groups.markChanged(groupID)
            step.effects.append(.note(.commit(result: "proposal_\(proposal.effect.rawValue)")))
            if proposal.effect == .commitDue { self.awaitDepartures(of: groupID, &step) }
            self.refreshChat(groupID)
            if proposal.effect != .ignored { self.deliver(proposal, by: event.id, of: groupID, &step) }
            return true
        case .ownEcho:
            self.settleMessage(event.id, &step)
            if let epoch = self.convergence.unsentEpoch(of: event, in: groupID, now: step.now) {
                self.receiveUnsentMessage(epoch: epoch, of: groupID, &step)
            }
        case .otherCopy(let epoch): self.receiveUnsentMessage(epoch: epoch, of: groupID, &step)
        }
        return false
    }

    /// - Parameters:
    ///   - role: the sender's role in the message's epoch.
    ///   - place: the place in the history of a group of the second generation.
    mutating func receiveMessage(
        _ message: ReceivedMessage, _ role: MemberRole?, of groupID: GroupID, at place: BranchPlace? = nil,
        _ step: inout CoreStep
    ) {
        if message.rumor.isTypingNotice { return self.receiveTyping(message.rumor, of: groupID, &step) }
        // The same inner event in another wrapper, or after a crash, is the same message.
        let key = self.messageKey(message.id, in: groupID)
        let isOwn = message.rumor.pubkey == self.account.publicKey
        let time = MessageTime.clamped(message.rumor.createdAt, arrivedAt: step.now)
        let expiresAt =
            place.map(\.expiresAt) ?? self.groups[groupID]?.data.expiry(of: message.rumor, sentAt: time)
        let stored = StoredMessage(
            groupID: groupID, rumor: message.rumor, id: message.id, wrapper: message.wrapper, epoch: message.epoch,
            isOwn: isOwn, expiresAt: expiresAt, time: time, point: place?.point)
        guard !self.inbound.seen.contains(key) else {
            if place != nil, self.revive(stored, &step) { return }
            return step.refuse(
                .duplicate, "repeated inner event", message.wrapper, inner: message.id,
                chatID: self.chatID(of: groupID))
        }
        self.remember(key, &step)
        guard stored.expiresAt ?? .distantFuture > step.now else {
            return step.refuse(
                .expired, "the message expired before it arrived", message.wrapper, inner: message.id,
                chatID: self.chatID(of: groupID))
        }
        step.changes.append(.putMessage(stored))
        self.chats.registerExpiry(stored.expiresAt, &step)
        self.media.storeKeys(of: stored, &step)
        if message.rumor.kind == .metadata { self.receiveGroupProfile(stored, &step) }
        if PushRumor.kinds.contains(message.rumor.kind) { self.receivePushRumor(stored, from: message.leaf, &step) }
        self.show(stored, delivery: isOwn ? .sent : .received, &step)
        if message.rumor.kind == .chatMessage { self.stopTyping(message.rumor.pubkey, in: groupID) }
        // Sent by another device of this account.
        if isOwn { return self.changeChat(groupID) { $0.times.follow(time) } }
        if message.rumor.kind == .callSignal {
            self.receiveCallSignal(message, role, of: groupID, &step)
        } else {
            self.deliver(
                .message(
                    MessageEvent(
                        id: message.id, sender: message.rumor.pubkey, kind: message.rumor.kind,
                        content: message.rumor.content, tags: message.rumor.tags, createdAt: message.rumor.createdAt,
                        epoch: message.epoch.rawValue, role: role, wrapper: message.wrapper)), of: groupID, &step)
        }
    }

    /// Returns the key of a message in ``SeenEvents``: the same inner event in two groups is two messages.
    func messageKey(_ id: EventID, in groupID: GroupID) -> EventID {
        SeenEvents.key(ofMessage: id, in: groupID)
    }

    /// Queues an event for the handlers, durably.
    mutating func deliver(_ content: CoreEvent.Content, of groupID: GroupID, _ step: inout CoreStep) {
        guard self.configuration.keepsInbox, self.groups[groupID] != nil else { return }
        self.inbox.append(content, chatID: ChatID(groupID), self.configuration.retention, &step)
    }

    private mutating func deliver(
        _ proposal: ProposalReport, by event: EventID, of groupID: GroupID, _ step: inout CoreStep
    ) {
        guard let epoch = self.groups[groupID]?.epoch, proposal.sender != self.account.publicKey else { return }
        let role = self.role(of: proposal.sender, inEpoch: epoch, of: groupID)
        self.deliver(
            .proposal(
                ProposalEvent(
                    id: event, sender: proposal.sender, change: ProposalEvent.Change(proposal.change),
                    epoch: epoch.rawValue, role: role)), of: groupID, &step)
    }

    /// Applies the effects of a commit by any member, after which the group is one epoch further.
    mutating func applyCommit(_ report: CommitReport, of groupID: GroupID, _ step: inout CoreStep) {
        self.groups.markChanged(groupID)
        self.rememberAdmins(before: report, of: groupID)
        step.effects.append(.note(.commit(result: report.rolledBackFrom == nil ? "applied" : "rolled_back")))
        if let group = self.groups[groupID] { self.index(group, &step) }
        let isRenamed = report.before.nostrGroupID != report.after.nostrGroupID
        if isRenamed || report.before.relays != report.after.relays {
            self.resubscribe(&step)
        }
        if report.removedSelf {
            let end = report.endOfMembership(of: self.account.publicKey)
            self.changeChat(groupID) { $0.end = end }
        }
        self.refreshChat(groupID)
        self.showTyping(in: groupID)
        if report.removedSelf { self.closeScreens(of: groupID, &step) }
        self.deliver(.commit(CommitEvent(report)), of: groupID, &step)
        self.followCall(in: groupID, report, &step)
        if report.rolledBackFrom != nil { self.keepAbandoned(of: groupID, at: report.epochBefore, &step) }
        let isStorm = self.noteRollback(report, of: groupID, &step)
        if report.rolledBackFrom != nil {
            self.startReseal(of: groupID, fromEpoch: report.epochBefore.later(by: 1), &step)
        }
        self.forgetOldAbandoned(of: groupID, &step)
        if report.isOwn { self.noteRenewal(of: groupID, &step) }
        self.followCopied(groupID, report, &step)
        self.reconsiderIntents(after: report, of: groupID, &step)
        if isStorm { self.leaveOnStorm(in: groupID, &step) }
        self.resealUnsent(of: groupID, &step)
        self.queueProfileRequests(of: report.added, &step)
        self.announceProfiles(after: report, of: groupID, &step)
        self.dropOldRivals(of: groupID, &step)
        // The new routing id was not subscribed to until now; and evicted events may be opened now.
        let wasEvicted = self.catchUp.consumeEviction(of: groupID)
        if isRenamed || wasEvicted, !report.removedSelf { self.readBacklog(of: groupID, &step) }
        if report.removedSelf {
            self.linger(groupID, &step)
            self.rejoin(groupID, &step)
        }
    }

    // MARK: Events that cannot be opened yet

    /// Parks an event within the budgets. Returns false if it was parked before.
    @discardableResult
    mutating func keep(
        _ event: Event, of groupID: GroupID, _ reason: WaitingReason, _ step: inout CoreStep
    ) -> Bool {
        guard self.keep(event, of: groupID, CoreReason(reason), reason.explanation, &step) else { return false }
        if reason == .otherCopy { self.noteOvertaken(groupID, &step) }
        self.trimWaiting(&step)
        return true
    }

    /// Parks an event for any reason.
    @discardableResult
    mutating func keep(
        _ event: Event, of groupID: GroupID, _ reason: CoreReason, _ detail: String, _ step: inout CoreStep
    ) -> Bool {
        guard let ring = self.groups[groupID]?.outerKeyRing, let id = try? GroupEvents.nostrGroupID(of: event) else {
            return false
        }
        let chatID = self.chatID(of: groupID)
        return self.inbound.waiting.park(
            event, under: id, triedBy: groupID, reason, detail, ring, chatID: chatID, &step)
    }

    /// Evicts the events beyond the budgets; relays still hold them.
    mutating func trimWaiting(_ step: inout CoreStep) {
        while let (nostrGroupID, id) = self.inbound.waiting.surplus() {
            let groups = self.groups.routes.groups(claiming: nostrGroupID)
            self.forgetWaiting(id, &step)
            self.catchUp.noteEvicted(groups)
            step.effects.append(.note(.droppedWaiting))
            step.observe(
                .gaveUp, .tooManyWaiting, "the waiting events exceed their limit in number or bytes", id,
                chatID: groups.first.flatMap { self.chatID(of: $0) })
        }
    }

    private mutating func followRing(of groupID: GroupID) -> OuterKeyRing {
        let ring = self.groups[groupID]?.outerKeyRing ?? OuterKeyRing()
        self.inbound.waiting.follow(ring, of: groupID, under: self.groups.routes.ids(of: groupID))
        return ring
    }

    mutating func forgetWaiting(_ id: EventID, _ step: inout CoreStep) {
        guard let nostrGroupID = self.inbound.waiting.remove(id, &step) else { return }
        self.endWaiting(of: id, under: nostrGroupID)
    }

    /// Forgets the waiting events under a routing id that no group claims now.
    mutating func forgetWaiting(under nostrGroupID: Bytes32, _ step: inout CoreStep) {
        self.inbound.waiting.removeAll(under: nostrGroupID, &step)
    }

    /// Retries parked events after an epoch change, oldest first, until no further progress is made. An event that no
    /// key has opened yet is tried with new keys only; an event opened by another group's key is left to that group.
    mutating func retryWaiting(of groupID: GroupID, _ step: inout CoreStep) {
        var moved = true
        while moved {
            moved = false
            var ring = self.followRing(of: groupID)
            for second in Self.seconds(of: self.waitingInOrder(of: groupID)) {
                let due = second.filter { self.inbound.waiting.isDue($0, of: groupID, ring) }
                guard !due.isEmpty else { continue }
                for event in self.inSendingOrder(due) where self.ingest(event, into: groupID, &step) {
                    moved = true
                }
                ring = self.followRing(of: groupID)
            }
        }
        self.recountGaps(&step)
    }

    /// Returns the waiting events that may belong to the group.
    func waitingInOrder(of groupID: GroupID) -> [Event] {
        self.inbound.waiting.events(under: self.groups.routes.ids(of: groupID))
    }
}

extension CommitEvent {
    init(_ report: CommitReport) {
        let before = report.before
        let after = report.after
        self.init(
            id: report.event, committer: report.committer, isOwn: report.isOwn,
            epochBefore: report.epochBefore.rawValue,
            epochAfter: report.epochAfter.rawValue, added: report.added, removed: report.removed, left: report.left,
            oldName: before.name, newName: after.name, newDescription: after.description,
            descriptionChanged: before.description != after.description,
            adminsAdded: Set(after.admins).subtracting(before.admins).sorted(),
            adminsRemoved: Set(before.admins).subtracting(after.admins).sorted(),
            newRelays: after.relays, relaysChanged: before.relays != after.relays,
            disappearingSeconds: after.disappearingSeconds,
            disappearingChanged: before.disappearingSeconds != after.disappearingSeconds,
            rolledBack: report.rolledBackFrom != nil,
            removedSelf: report.removedSelf, role: MemberRole(of: report.committer, in: before))
    }
}
