import Errors
import MLS
import Marmot
import Nostr

/// Call signals and their effects (docs/protocol/marmot.md §9.1).
extension CoreModel {
    /// Invites older than this many seconds are ignored.
    static let maximumInviteAge: Int64 = 30

    mutating func receiveCallSignal(
        _ message: ReceivedMessage, _ role: MemberRole?, of groupID: GroupID, _ step: inout CoreStep
    ) {
        let sender = message.rumor.pubkey
        guard sender != self.account.publicKey, let signal = CallSignal(content: message.rumor.content),
            let group = self.groups[groupID]
        else { return }
        let event = CallEvent(
            id: message.id, sender: sender, signal: signal, epoch: message.epoch.rawValue, role: role,
            wrapper: message.wrapper)
        let origin = CallMachine.Origin(callID: signal.callID, groupID: groupID, sender: sender)
        switch signal.body {
        case .invite(let session):
            guard message.rumor.createdAt >= step.now - Self.maximumInviteAge else {
                return self.refuse(.staleCall, "an invite older than 30 s", event, in: group, &step)
            }
            guard self.calls.admitInvite(from: sender, self.configuration.callLimit, &step) else { return }
            self.receiveCallInvite(session, event, in: group, &step)
        case .accept(let session):
            let isAuthentic = self.calls.live.map { self.isAuthentic($0.session, $0.id, $0.peer, in: group) } ?? false
            self.followCall(
                .accept(origin, relayAuth: session.relayAuth, isAuthentic: isAuthentic), about: event, &step)
        case .reject(let reason), .end(let reason):
            self.followCall(.termination(origin, reason: reason), about: event, &step)
        }
    }

    private mutating func receiveCallInvite(
        _ session: CallSession, _ event: CallEvent, in group: AccountGroup, _ step: inout CoreStep
    ) {
        let callID = event.signal.callID
        let isAuthentic = self.isAuthentic(session, callID, event.sender, in: group)
        // All members receive an invite meant for one of them, and any refusal would end that call. Its token shows for
        // whom it is, but only in its own epoch.
        let isForAnother =
            !isAuthentic
            && group.members.contains { member in
                member != self.account.publicKey && member != event.sender
                    && (event.epoch != group.epoch.rawValue
                        || CallAuthorization.isValid(
                            session, callID: callID, between: event.sender, and: member, in: group))
            }
        guard !isForAnother else {
            return self.refuse(.foreignCall, "an invite for another member", event, in: group, &step)
        }
        // The keys derive from the id: reusing a past call's id would reuse its nonces.
        guard self.calls.live?.id == callID || !self.isUsed(callID) else {
            return self.refuse(.repeatedCall, "an invite with a past call's id", event, in: group, &step)
        }
        let chatID = ChatID(group.groupID)
        let isGroup = self.state.chatList.first { $0.chatID == chatID }?.isGroup ?? true
        let call = CallMachine.Call(
            id: callID, groupID: group.groupID, peer: event.sender, session: session, isOutgoing: false,
            startedAt: step.nowMilliseconds, isCameraOn: session.hasVideo)
        self.followCall(.invite(call, isGroup: isGroup, isAuthentic: isAuthentic), about: event, &step)
    }

    private func refuse(
        _ reason: CoreReason, _ detail: String, _ event: CallEvent, in group: AccountGroup, _ step: inout CoreStep
    ) {
        step.refuse(reason, detail, event.wrapper, inner: event.id, chatID: ChatID(group.groupID))
    }

    /// Whether an id was used by a recent call.
    func isUsed(_ callID: String) -> Bool { self.state.callTimeline.contains { $0.callID == callID } }

    private func isAuthentic(
        _ session: CallSession, _ callID: String, _ peer: PublicKey, in group: AccountGroup
    ) -> Bool {
        CallAuthorization.isValid(session, callID: callID, between: self.account.publicKey, and: peer, in: group)
    }

    /// Whether a call is still authentic at the moment when the user accepts it.
    func isAuthentic(_ call: CallMachine.Call) -> Bool {
        self.groups[call.groupID].map { self.isAuthentic(call.session, call.id, call.peer, in: $0) } ?? false
    }

    /// Updates the call after a commit: its other side may be gone, and the chat may have changed.
    mutating func followCall(in groupID: GroupID, _ report: CommitReport, _ step: inout CoreStep) {
        guard let call = self.calls.live, call.groupID == groupID else { return }
        if report.removedSelf || report.removed.contains(call.peer) {
            self.followCall(.mediaFailed(callID: call.id), &step)
        } else {
            self.refreshCall(&step)
        }
    }

    /// Applies a report of a call's media session.
    mutating func receiveCallMedia(_ report: CallMediaReport, _ step: inout CoreStep) {
        switch report {
        case .connected(let callID): self.followCall(.mediaConnected(callID: callID), &step)
        case .failed(let callID, let reason):
            guard self.calls.live?.id == callID else { return }
            self.state.toast = reason
            step.effects.append(.note(.refused(reason: CountedReason.callMedia.rawValue, detail: reason)))
            self.followCall(.mediaFailed(callID: callID), &step)
        case .statistics(let callID, let statistics):
            if self.state.activeCall?.callID == callID { self.state.activeCall?.statistics = statistics }
        }
    }

    // MARK: Actions of the call machine

    /// Passes an event to the call machine that no user requested; errors are only counted.
    mutating func followCall(
        _ event: CallMachine.Event, about signal: CallEvent? = nil, _ step: inout CoreStep
    ) {
        do { try self.driveCall(event, about: signal, &step) } catch {
            step.effects.append(.note(.refused(reason: error.code.description, detail: error.message)))
        }
    }

    /// - Parameter id: the action of a handler or client that causes the event; nil for others.
    mutating func driveCall(
        _ event: CallMachine.Event, about signal: CallEvent? = nil, by id: ActionID? = nil, _ step: inout CoreStep
    ) throws(AppCoreError) {
        let groupID = self.calls.live?.groupID
        let actions = try self.calls.handle(event, self.configuration.calls, nowMilliseconds: step.nowMilliseconds)
        guard !actions.isEmpty else { return }
        self.refreshCall(&step)
        for action in actions {
            if case .announce = action, let signal, let groupID = self.calls.live?.groupID ?? groupID {
                self.deliver(.call(signal), of: groupID, &step)
            } else if self.calls.allows(action) {
                self.perform(action, by: id, &step)
            }
        }
    }

    private mutating func perform(_ action: CallMachine.Action, by id: ActionID?, _ step: inout CoreStep) {
        switch action {
        case .send(let body, let callID, let groupID): self.sendCallSignal(body, callID, groupID, by: id, &step)
        case .wake(let callID, let time): step.effects.append(.wake(.call(id: callID), atMilliseconds: time))
        case .startMedia(let call): self.startMedia(of: call, &step)
        case .stopMedia(let callID): step.effects.append(.stopCallMedia(callID: callID))
        case .setMedia(let call):
            step.effects.append(
                .setCallMedia(callID: call.id, isMuted: call.isMuted, isCameraOn: call.isCameraOn))
        case .record(let event, let call): self.recordCall(event, call, &step)
        case .announce: break
        }
    }

    private mutating func startMedia(of call: CallMachine.Call, _ step: inout CoreStep) {
        guard let group = self.groups[call.groupID], group.isActive else {
            return self.followCall(.mediaFailed(callID: call.id), &step)
        }
        step.effects.append(.startCallMedia(CallMediaPlan(call, in: group, account: self.account.publicKey)))
    }

    mutating func sendCallSignal(
        _ body: CallSignal.Body, _ callID: String, _ groupID: GroupID, by id: ActionID? = nil, _ step: inout CoreStep
    ) {
        let signal = CallSignal(callID: callID, timestampMilliseconds: step.nowMilliseconds, body: body)
        do {
            guard let chatID = self.chatID(of: groupID) else { throw AppCoreError.unknownCall }
            let message = OutgoingMessage(kind: .callSignal, content: signal.content)
            let outcome = try self.send(message, toChat: chatID, purpose: .callSignal, &step)
            guard let outcome, case .queued(_, let wrapper) = outcome else { return }
            if let id { self.finishAction(id, outcome, &step) }
            self.calls.track(body, of: callID, row: Delivery.messageRow(wrapper))
        } catch {
            step.effects.append(.note(.sendFailed(reason: "\(signal.type): \(error)")))
            if let id { self.finishAction(id, .failed(AppCoreError(cause: error)), &step) }
            self.followCall(.publishFailed(callID: callID), &step)
        }
    }

    /// Concludes a signal that has reached a relay, or never will.
    mutating func concludeSignal(_ row: OutboxRow, failure: String?, _ step: inout CoreStep) {
        if let failure {
            self.noteFailed(row, failure, isKept: false, &step)
        } else {
            self.noteSent(row, by: nil, &step)
        }
        guard let callID = self.calls.conclude(row: row.id), let failure else { return }
        self.state.toast = "the call signal could not be sent: \(failure)"
        step.observeUndelivered(
            "call signal", failure, row.event.id, inner: row.messageID, chatID: row.groupID.map { ChatID($0) })
        self.followCall(.publishFailed(callID: callID), &step)
    }
}
