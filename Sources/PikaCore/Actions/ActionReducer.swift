import Errors
import MLS
import Marmot
import Nostr

/// Outcomes of the actions that handlers and clients request: recorded when an action begins, and reported when it ends.
extension CoreModel {
    /// Performs a handler's effects.
    mutating func perform(_ effects: [HandlerEffect], _ step: inout CoreStep) {
        for effect in effects
        where self.delivery.queue.row(effect.id) == nil && !self.settlement.held.contains(row: effect.id) {
            switch effect.operation {
            case .putValue(let scope, let key, let value):
                step.changes.append(.putValue(scope: scope, key: key, value: value))
            case .send(let chatID, let message):
                let request = self.beginAction(effect, message.actionName, in: chatID, &step)
                do {
                    let outcome = try self.send(
                        message, toChat: chatID, rowID: effect.id, request: request, &step)
                    if let outcome { self.finish(request, outcome, &step) }
                } catch {
                    step.effects.append(.note(.sendFailed(reason: "\(error)")))
                    self.finish(request, .failed(AppCoreError(cause: error)), &step)
                }
            case .dispatch(let action):
                let request = self.beginAction(effect, action.name, in: action.chatID, &step)
                self.reduce(.action(action, request), &step)
            }
        }
    }

    /// Records an action whose outcome a bot or the metrics want; nil for others.
    private mutating func beginAction(
        _ effect: HandlerEffect, _ kind: String, in chatID: ChatID?, _ step: inout CoreStep
    ) -> RequestID? {
        guard effect.tracking != .none else { return nil }
        let id = ActionID(rawValue: effect.id)
        self.beginAction(id, kind, in: chatID, isReported: effect.tracking == .reported, nil, &step)
        return .action(id)
    }

    /// Records a client's action, whose outcome is reported as an event besides the reply to the request.
    mutating func beginAction(_ action: AppAction, _ id: ActionID, of request: RequestID, _ step: inout CoreStep) {
        self.beginAction(id, action.name, in: action.chatID, isReported: true, request, &step)
    }

    private mutating func beginAction(
        _ id: ActionID, _ kind: String, in chatID: ChatID?, isReported: Bool, _ request: RequestID?,
        _ step: inout CoreStep
    ) {
        let forgotten = self.actions.begin(
            id, kind: kind, in: chatID ?? "", isReported: isReported, request: request, &step)
        if let forgotten {
            self.report(.failed(.tooManyActions, messageID: forgotten.messageID), of: forgotten, &step)
        }
    }

    /// The action of a request whose outcome is reported; nil for others.
    func actionID(of request: RequestID?) -> ActionID? {
        guard let request else { return nil }
        return request.action ?? request.command ?? self.actions[request: request]?.id
    }

    /// Records the outcome of an action; a queued message is only done when relays have it.
    mutating func finishAction(_ id: ActionID, _ outcome: ActionOutcome, _ step: inout CoreStep) {
        guard var entry = self.actions[id] else { return }
        switch outcome {
        case .queued(let messageID, _):
            guard let groupID = try? self.groupID(ofChat: entry.chatID) else { return self.end(entry, .done, &step) }
            entry.chatID = ChatID(groupID)
            entry.messageID = messageID
            return self.actions.put(entry, &step)
        case .done(let chatID):
            // The delivery of a call's signal decides on its action.
            guard entry.messageID == nil else { return }
            entry.chatID = chatID ?? entry.chatID
            self.end(entry, .done, &step)
        case .partlyDone(let chatID, let left):
            entry.chatID = chatID
            self.end(entry, .partlyDone(left: left), &step)
        case .found: self.end(entry, .done, &step)
        case .failed(let error): self.end(entry, .failed(error), &step)
        }
    }

    /// Records that an action is done, except that invitations are still to reach a relay.
    mutating func noteEarly(_ outcome: ActionOutcome, of id: ActionID, _ step: inout CoreStep) {
        guard var entry = self.actions[id] else { return }
        switch outcome {
        case .done(let chatID?), .partlyDone(let chatID, _): entry.chatID = chatID
        case .done(nil), .found, .queued, .failed: break
        }
        entry.isDone = true
        self.actions.put(entry, &step)
    }

    // MARK: Messages

    /// Records that a relay has a message; nil if it is unknown which.
    mutating func notePublished(_ row: OutboxRow, by relay: RelayURL?, _ step: inout CoreStep) {
        guard var entry = self.pendingAction(of: row), let id = entry.messageID, !entry.isPublished else { return }
        entry.isPublished = true
        if row.relays.count == 1 {
            entry.relays = row.relays
            return self.end(entry, .delivered(messageID: id, relays: entry.relays), &step)
        }
        entry.relays = [relay].compactMap(\.self)
        // A signal that one relay has is not sent to others any more.
        if row.purpose == .callSignal {
            return self.end(entry, .published(messageID: id, relays: entry.relays), &step)
        }
        self.report(.published(messageID: id, relays: entry.relays), of: entry, &step)
        self.actions.put(entry, &step)
    }

    /// Records another relay's answer about a message that is published.
    mutating func noteAnswer(_ report: PublishReport, of row: OutboxRow, _ step: inout CoreStep) {
        guard var entry = self.pendingAction(of: row), let id = entry.messageID, entry.isPublished else { return }
        if report.outcome == .accepted, !entry.relays.contains(report.relay) {
            entry.relays.append(report.relay)
            self.actions.put(entry, &step)
        }
        guard self.delivery.queue.row(row.id) == nil else { return }
        self.end(entry, .delivered(messageID: id, relays: entry.relays.sorted()), &step)
    }

    /// Records that a message is no longer being sent.
    mutating func noteUnsent(_ id: EventID, in groupID: GroupID, _ reason: String, _ step: inout CoreStep) {
        guard !self.actions.isEmpty,
            let entry = self.actions[messageKey: SeenEvents.key(ofMessage: id, in: groupID)]
        else { return }
        self.end(entry, .failed(AppCoreError(.notPublished, reason), messageID: id), &step)
    }

    /// The action that queued a message; nil if there is none.
    private func pendingAction(of row: OutboxRow) -> PendingActions.Entry? {
        guard !self.actions.isEmpty, let id = row.messageID, let groupID = row.groupID else { return nil }
        return self.actions[messageKey: SeenEvents.key(ofMessage: id, in: groupID)]
    }

    // MARK: Interrupted actions

    /// Ends the actions that did not survive a restart.
    mutating func endInterruptedActions(_ step: inout CoreStep) {
        let requests = self.intents.requests + self.settlement.held.requests
        let continued = Set(requests.compactMap { self.actionID(of: $0) })
        for entry in self.actions.all where entry.messageID == nil && !continued.contains(entry.id) {
            self.end(entry, entry.isDone ? .done : .failed(.interrupted), &step)
        }
        self.endLostMessages(&step)
    }

    /// Ends the actions whose message has left the outbox without an answer, for example with its group.
    mutating func endLostMessages(_ step: inout CoreStep) {
        for entry in self.actions.all {
            guard let id = entry.messageID, let groupID = entry.groupID else { continue }
            let isQueued = !self.delivery.queue.rows(ofMessage: id, in: groupID).isEmpty
            if isQueued || self.delivery.resealing.contains(groupID) { continue }
            if entry.isPublished {
                // The other relays were offline for too long.
                self.actions.end(entry.id, &step)
            } else {
                self.end(entry, .failed(.unknownOutcome, messageID: id), &step)
            }
        }
    }

    // MARK: Reports

    private mutating func end(_ entry: PendingActions.Entry, _ result: ActionResult, _ step: inout CoreStep) {
        self.actions.end(entry.id, &step)
        self.report(result, of: entry, &step)
    }

    private mutating func report(_ result: ActionResult, of entry: PendingActions.Entry, _ step: inout CoreStep) {
        step.effects.append(.note(.action(bot: entry.id.bot, action: entry.kind, outcome: result.name)))
        if let trigger = entry.id.trigger, let reason = result.reason {
            let chatID = entry.chatID.rawValue.isEmpty ? nil : entry.chatID
            step.effects.append(
                .observe(
                    CoreNotice(
                        event: trigger, inner: trigger, chatID: chatID, fate: .actionFailed, reason: reason.code,
                        detail: "\(entry.kind) of \(entry.id.bot): \(reason.detail)", at: step.now)))
        }
        guard entry.isReported else { return }
        let event = OutcomeEvent(action: entry.id, kind: entry.kind, result: result)
        let chatID = (try? self.groupID(ofChat: entry.chatID)).map { ChatID($0) } ?? entry.chatID
        self.inbox.append(.outcome(event), chatID: chatID, self.configuration.retention, &step)
    }
}

extension AppCoreError {
    fileprivate static let interrupted = AppCoreError(
        .interrupted, "the process ended before the action did; request it again")
    fileprivate static let unknownOutcome = AppCoreError(
        .outcomeUnknown, "the message left the outbox before a relay answered")
    fileprivate static let tooManyActions = AppCoreError(
        .outcomeUnknown, "more than \(PendingActions.capacity) actions await their outcome")
}

extension ActionResult {
    /// The reason of a result that is not complete success; nil for others.
    fileprivate var reason: (code: String, detail: String)? {
        switch self {
        case .done, .published, .delivered: nil
        case .partlyDone(let left): ("partly_done", "\(left.count) of the peers were left out")
        case .failed(let error, _): (error.code.description, error.message)
        }
    }
}
