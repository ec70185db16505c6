import MLS
import Marmot
import Nostr

/// Delivery of this account's messages: shown, reported once, and recorded if it failed.
extension CoreModel {
    /// Records that a relay has a message.
    ///
    /// - Parameter relay: the relay; nil if it is unknown.
    mutating func noteSent(_ row: OutboxRow, by relay: RelayURL?, _ step: inout CoreStep) {
        self.notePublished(row, by: relay, &step)
        self.setDelivery(.sent, of: row, reports: self.delivery.reportsDelivery(of: row), &step)
    }

    /// Records that a message is no longer being sent, unless it is retried.
    ///
    /// - Parameter isKept: whether it is still shown as failed after a restart.
    mutating func noteFailed(_ row: OutboxRow, _ reason: String, isKept: Bool = true, _ step: inout CoreStep) {
        if isKept { self.delivery.noteFailed(row, reason, &step) }
        if let id = row.messageID, let groupID = row.groupID { self.noteUnsent(id, in: groupID, reason, &step) }
        self.setDelivery(.failed(reason), of: row, &step)
    }

    private mutating func setDelivery(
        _ delivery: AppState.Delivery, of row: OutboxRow, reports: Bool = true, _ step: inout CoreStep
    ) {
        guard let id = row.messageID, let groupID = row.groupID else { return }
        self.setDelivery(delivery, of: id, in: groupID, reports: reports, &step)
    }

    private mutating func setDelivery(
        _ delivery: AppState.Delivery, of id: EventID, in groupID: GroupID, reports: Bool = true,
        _ step: inout CoreStep
    ) {
        guard let chatID = self.chatID(of: groupID) else { return }
        if reports { step.effects.append(.report(chatID: chatID, messageID: id, delivery)) }
        self.changeShown(id, in: groupID) { $0.delivery = delivery }
    }

    /// Returns the delivery state of a stored message.
    ///
    /// - Parameter isPending: whether a row of it waits in the outbox.
    func deliveryState(of message: StoredMessage, isPending: Bool) -> AppState.Delivery {
        guard message.isOwn else { return .received }
        if isPending { return .pending }
        return self.delivery.failure(of: message.id, in: message.groupID).map { .failed($0.reason) } ?? .sent
    }

    /// Answers with the delivery states of stored messages of one group.
    func queryDeliveries(_ number: Int, _ messages: [StoredMessage], _ step: inout CoreStep) {
        let groupID = messages.first?.groupID
        let pending = Set(self.delivery.queue.rows { $0.groupID == groupID }.compactMap(\.messageID))
        let states = messages.map { self.deliveryState(of: $0, isPending: pending.contains($0.id)) }
        step.effects.append(.answerDeliveries(number, states))
    }

    // MARK: Withdrawn messages

    /// Records that a message of this account, which left the history of its group, is not sent again.
    mutating func noteLost(_ message: StoredMessage, _ refusal: ResendRefusal, _ step: inout CoreStep) {
        let (id, groupID) = (message.id, message.groupID)
        for row in self.delivery.queue.rows(ofMessage: id, in: groupID) { self.dropRow(row, &step) }
        // Shown again, as failed.
        step.changes.append(.moveMessage(message))
        self.delivery.noteFailed(id, in: groupID, refusal.reason, &step)
        self.inbox.removeOutcome(ofMessage: id, &step)
        self.noteUnsent(id, in: groupID, refusal.reason, &step)
        step.effects.append(.note(.sendFailed(reason: refusal.reason)))
        self.setDelivery(.failed(refusal.reason), of: id, in: groupID, &step)
        self.state.toast = "a message was withdrawn: \(refusal.reason)"
        step.observeUndelivered(
            "withdrawn message", refusal.reason, message.wrapper, inner: id, chatID: ChatID(groupID))
    }

    /// Ends the failure of a message whose branch won after all.
    mutating func noteReturned(_ message: StoredMessage, _ step: inout CoreStep) {
        let (id, groupID) = (message.id, message.groupID)
        guard let failure = self.delivery.failure(of: id, in: groupID), ResendRefusal.isReason(failure.reason) else {
            return
        }
        self.delivery.forgetFailure(of: id, in: groupID, &step)
        self.setDelivery(.sent, of: id, in: groupID, &step)
    }

    // MARK: Another attempt

    /// Loads a failed message, to seal it again. Its outcome comes later.
    mutating func retry(
        _ id: EventID, inChat chatID: ChatID, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        try self.requireMembership(in: groupID)
        guard self.groups[groupID]?.isActive == true else {
            throw AppCoreError(.notAllowed, "this account is no longer a member of the group")
        }
        try self.delivery.requireFailed(id, in: groupID)
        step.effects.append(.loadMessage(groupID: groupID, id, request))
    }

    /// Sends a failed message after it was loaded, in the group's current epoch and with the same inner id.
    mutating func retry(
        _ message: StoredMessage?, _ id: EventID, of groupID: GroupID, _ request: RequestID?, _ step: inout CoreStep
    ) {
        do {
            try self.delivery.requireFailed(id, in: groupID)
            guard let message, message.isOwn, message.expiresAt ?? .distantFuture > step.now else {
                self.delivery.forgetFailure(of: id, in: groupID, &step)
                throw AppCoreError(.unknownMessage, "the message is no longer stored")
            }
            guard !Self.isMomentary(message.rumor.kind) else {
                throw AppCoreError(.notAllowed, "it is too late to send a message of this kind")
            }
            guard !self.holdsMessages(of: groupID) else {
                throw AppCoreError(.busy, "a commit in the group is being decided; try again in a few seconds")
            }
            guard !self.hasLostFiles(message) else {
                throw AppCoreError(
                    .notAllowed, "the files were encrypted for a state that the group has left; send them again")
            }
            guard let wrapper = try self.reseal(message, &step) else {
                throw AppCoreError(.unknownChat, "the chat no longer exists")
            }
            self.finish(request, .queued(messageID: id, wrapper: wrapper), &step)
        } catch { self.fail(request, error, &step) }
    }
}
