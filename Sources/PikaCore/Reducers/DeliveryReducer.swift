import MLS
import Marmot
import Nostr

/// Delivery of own messages: shown, reported once, and recorded if it failed.
extension CoreModel {
    /// The id prefix of rows whose message was reported as sent before. Only a failure is reported for these.
    private static let againPrefix = "message-again/"

    static func messageRow(_ event: EventID, again: Bool = false) -> String {
        (again ? Self.againPrefix : "message/") + event.hex
    }

    /// Whether a message that is sealed again was reported as sent before: no row of it waits for its first relay.
    func wasSent(_ id: EventID, in groupID: GroupID) -> Bool {
        let rows = self.queue.rows { $0.messageID == id && $0.groupID == groupID }
        guard let row = rows.first else { return self.failure(of: id, in: groupID) == nil }
        return row.id.hasPrefix(Self.againPrefix)
    }

    /// Records that a relay has a message.
    mutating func noteSent(_ row: OutboxRow, _ step: inout CoreStep) {
        self.setDelivery(.sent, of: row, reports: !row.id.hasPrefix(Self.againPrefix), &step)
    }

    /// Records that a message is no longer being sent, unless it is retried.
    ///
    /// - Parameter isKept: whether it is still shown as failed after a restart.
    mutating func noteFailed(_ row: OutboxRow, _ reason: String, isKept: Bool = true, _ step: inout CoreStep) {
        if isKept, let id = row.messageID, let groupID = row.groupID {
            self.failures.add(
                FailedMessage(groupID: groupID, id: id, reason: reason, failedAt: step.now),
                self.messageKey(id, in: groupID), &step)
        }
        self.setDelivery(.failed(reason), of: row, &step)
    }

    private mutating func setDelivery(
        _ delivery: AppState.Delivery, of row: OutboxRow, reports: Bool = true, _ step: inout CoreStep
    ) {
        guard let id = row.messageID, let groupID = row.groupID,
            let chatID = self.chatID(of: groupID)
        else { return }
        if reports { step.effects.append(.report(chatID: chatID, messageID: id, delivery)) }
        self.changeShown(id, in: groupID) { $0.delivery = delivery }
    }

    // MARK: Failures

    func failure(of id: EventID, in groupID: GroupID) -> FailedMessage? {
        self.failures.isEmpty ? nil : self.failures[self.messageKey(id, in: groupID)]
    }

    mutating func forgetFailure(of id: EventID, in groupID: GroupID, _ step: inout CoreStep) {
        self.failures.remove(self.messageKey(id, in: groupID), &step)
    }

    // MARK: Another attempt

    /// Loads a failed message, to seal it again. Its outcome comes later.
    mutating func retry(
        _ id: EventID, inChat chatID: String, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        try self.requireMembership(in: groupID)
        guard self.groups[groupID]?.isActive == true else {
            throw AppCoreError(.notAllowed, "this account is no longer a member of the group")
        }
        guard self.failure(of: id, in: groupID) != nil else { throw self.notFailed(id, in: groupID) }
        step.effects.append(.loadMessage(groupID: groupID, id, request))
    }

    private func notFailed(_ id: EventID, in groupID: GroupID) -> AppCoreError {
        self.queue.contains { $0.messageID == id && $0.groupID == groupID }
            ? AppCoreError(.notAllowed, "the message is already being sent")
            : AppCoreError(.unknownMessage, "no own message with the id \(id) has failed in this chat")
    }

    /// Sends a failed message after it was loaded, in the group's current epoch and with the same inner id.
    mutating func retry(
        _ message: StoredMessage?, _ id: EventID, of groupID: GroupID, _ request: RequestID?, _ step: inout CoreStep
    ) {
        do {
            guard self.failure(of: id, in: groupID) != nil else { throw self.notFailed(id, in: groupID) }
            guard let message, message.isOwn, message.expiresAt ?? .max > step.now else {
                self.forgetFailure(of: id, in: groupID, &step)
                throw AppCoreError(.unknownMessage, "the message is no longer stored")
            }
            guard !Self.isMomentary(message.rumor.kind) else {
                throw AppCoreError(.notAllowed, "it is too late to send a message of this kind")
            }
            guard let wrapper = try self.reseal(message, &step) else {
                throw AppCoreError(.unknownChat, "the chat no longer exists")
            }
            self.finish(request, .queued(messageID: id, wrapper: wrapper), &step)
        } catch { self.fail(request, error, &step) }
    }
}
