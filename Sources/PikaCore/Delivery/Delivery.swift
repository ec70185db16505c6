import MLS
import Marmot
import Nostr

/// The delivery of this account's events: the outbox, messages that no relay accepted, and messages to be sealed
/// again.
struct Delivery: Sendable {
    /// The number of epochs by which an unsent message may lag behind its group; members keep the keys of a few more.
    static let maximumUnsentAge = 2
    /// The id prefix of rows whose message was reported as sent before. Only a failure is reported for these.
    private static let againPrefix = "message-again/"

    /// The outbox. Others may query it; it is changed by the methods below only.
    private(set) var queue = PublishQueue()
    private var reseals = Reseals()
    private var failures = FailedMessages()

    /// Returns the id of the row for a message.
    ///
    /// - Parameter again: whether the message was reported as sent before.
    static func messageRow(_ event: EventID, again: Bool = false) -> String {
        (again ? Self.againPrefix : "message/") + event.hex
    }

    // MARK: Outbox

    /// Restores a stored row.
    mutating func restore(_ row: OutboxRow) { _ = self.queue.add(row) }

    /// Appends and stores an event; false if the outbox has a row with its id.
    mutating func append(
        id: String, _ event: Event, to relays: [RelayURL], _ purpose: OutboxRow.Purpose, groupID: GroupID?,
        messageID: EventID?, _ step: inout CoreStep
    ) -> Bool {
        self.queue.append(id: id, event, to: relays, purpose, groupID: groupID, messageID: messageID, &step)
    }

    /// Publishes the rows that may be sent now; parameters as for ``PublishQueue/start(nowMilliseconds:except:away:)``.
    mutating func publish(except held: Set<String>, away: Set<RelayURL>, _ step: inout CoreStep) {
        self.queue.publish(except: held, away: away, &step)
    }

    /// Removes a row, regardless of which relays have it; false if absent.
    mutating func remove(_ id: String, _ step: inout CoreStep) -> Bool { self.queue.remove(id, &step) != nil }

    /// Removes the row of a typing notice, which is not stored; false if absent.
    mutating func removeTyping(_ id: String) -> Bool { self.queue.remove(id) != nil }

    /// Makes delayed rows due, since a relay has reconnected.
    mutating func makeDue(_ relay: RelayURL) { self.queue.makeDue(relay) }

    /// Makes a delayed row due; false if it is not delayed.
    mutating func makeDue(row id: String) -> Bool { self.queue.makeDue(row: id) }

    /// Drops rows that one relay has and that are too old for the others.
    mutating func expireLeftovers(_ step: inout CoreStep) { self.queue.expireLeftovers(&step) }

    // MARK: Answers

    /// The effect of one relay's answer on a row.
    enum Progress: Sendable, Hashable {
        /// No effect: the row is gone, or others are still to answer.
        case none
        /// This relay is the first to accept the row.
        case settled(OutboxRow)
        /// The row was settled before.
        case background
    }

    /// Records and stores one relay's answer.
    mutating func receive(_ report: PublishReport, row id: String, _ step: inout CoreStep) -> Progress {
        let milliseconds = self.queue.attemptBegan(id).map { max(0, step.nowMilliseconds - $0) }
        switch self.queue.report(id, report, nowMilliseconds: step.nowMilliseconds) {
        case .none: return .none
        case .settled(let row, let forgotten):
            step.effects.append(.note(.sent(milliseconds: milliseconds)))
            PublishQueue.store(settled: row, forgotten, &step)
            return .settled(row)
        case .delivered(let id): step.changes.append(.deleteOutbox(id: id))
        case .retry(let time): step.effects.append(.wake(.outbox, atMilliseconds: time))
        }
        return .background
    }

    /// The outcome of an attempt to publish a row.
    enum AttemptEnd: Sendable, Hashable {
        /// Some relays have not answered, the attempt is over already, or one relay has the row.
        case none
        /// No relay accepted the row; it is retried.
        case unanswered
        /// Every relay refused the row, which is removed.
        case refused(OutboxRow, reason: String)
    }

    /// Records that these relays send no more answers in this attempt.
    mutating func endAttempt(row id: String, relays: [RelayURL], _ step: inout CoreStep) -> AttemptEnd {
        switch self.queue.end(id, relays: relays, nowMilliseconds: step.nowMilliseconds) {
        case .none: return .none
        case .retry(let time):
            step.effects.append(.wake(.outbox, atMilliseconds: time))
            let row = self.queue.row(id)
            guard row?.leftover == nil else { return .none }
            if row?.purpose != .typing { step.changes.append(.countOutboxAttempt(id: id)) }
            return .unanswered
        case .refused(let reason):
            guard let row = self.queue.remove(id, &step) else { return .none }
            // Nobody relies on an offer, and relays of other programs may be closed to strangers.
            if row.purpose != .offer {
                step.effects.append(.note(.sendFailed(reason: "\(row.purpose.rawValue): \(reason)")))
            }
            return .refused(row, reason: reason)
        }
    }

    /// Settles a row that some relay has, and stores the result. Returns whether it was not settled before.
    mutating func settle(_ id: String, _ step: inout CoreStep) -> Bool { self.queue.settle(id, &step) }

    /// Returns the unsettled row of this account's message or call signal that came back from a relay.
    func unsettledMessage(_ event: EventID) -> OutboxRow? {
        guard let id = self.queue.row(ofEvent: event), let row = self.queue.row(id),
            row.purpose == .message || row.purpose == .callSignal
        else { return nil }
        return row
    }

    /// Whether a delivered message is to be reported: not again after it was sealed again.
    func reportsDelivery(of row: OutboxRow) -> Bool { !row.id.hasPrefix(Self.againPrefix) }

    // MARK: Failed messages

    /// The number of this account's messages that no relay accepted.
    var failedCount: Int { self.failures.count }

    /// Returns the messages that no relay has: all that have failed, and at most `limit` that wait.
    func unsent(limit: Int) -> [EventID: AppState.Delivery] {
        var unsent: [EventID: AppState.Delivery] = [:]
        for message in self.failures.all { unsent[message.id] = .failed(message.reason) }
        for id in self.queue.rows(where: { $0.messageID != nil }).lazy.compactMap(\.messageID).prefix(limit) {
            unsent[id] = .pending
        }
        return unsent
    }

    func failure(of id: EventID, in groupID: GroupID) -> FailedMessage? {
        self.failures.isEmpty ? nil : self.failures[SeenEvents.key(ofMessage: id, in: groupID)]
    }

    /// Stores that the message of a row is no longer being sent, unless it is retried.
    mutating func noteFailed(_ row: OutboxRow, _ reason: String, _ step: inout CoreStep) {
        guard let id = row.messageID, let groupID = row.groupID else { return }
        self.noteFailed(id, in: groupID, reason, &step)
    }

    /// Stores that a message is no longer being sent, unless it is retried.
    mutating func noteFailed(_ id: EventID, in groupID: GroupID, _ reason: String, _ step: inout CoreStep) {
        self.failures.add(
            FailedMessage(groupID: groupID, id: id, reason: reason, failedAt: step.now),
            SeenEvents.key(ofMessage: id, in: groupID), &step)
    }

    mutating func forgetFailure(of id: EventID, in groupID: GroupID, _ step: inout CoreStep) {
        self.failures.remove(SeenEvents.key(ofMessage: id, in: groupID), &step)
    }

    /// Throws unless a message has failed.
    func requireFailed(_ id: EventID, in groupID: GroupID) throws(AppCoreError) {
        guard self.failure(of: id, in: groupID) == nil else { return }
        guard !self.queue.contains(where: { $0.messageID == id && $0.groupID == groupID }) else {
            throw AppCoreError(.notAllowed, "the message is already being sent")
        }
        throw AppCoreError(.unknownMessage, "no message of this account with the id \(id) has failed in this chat")
    }

    /// Restores a failed message; false if the memo is unreadable.
    mutating func restoreFailure(_ key: [UInt8], _ memo: Secret) -> Bool { self.failures.restore(key, memo) }

    // MARK: Messages to be sealed again

    /// The groups in which this account's messages of rolled-back epochs are to be sealed again.
    var resealing: [GroupID] { self.reseals.groups }

    /// Returns the task of a group; nil if absent.
    func reseal(of groupID: GroupID) -> Reseals.Reseal? { self.reseals[groupID] }

    /// Begins to seal the messages of abandoned epochs again; a memo records the task until it is finished.
    mutating func beginReseal(of groupID: GroupID, fromEpoch: Epoch, _ step: inout CoreStep) {
        self.reseals.begin(groupID, fromEpoch: fromEpoch, &step)
    }

    /// Loads the messages, unless that has to wait.
    mutating func loadForReseal(of groupID: GroupID, isDeferred: Bool, _ step: inout CoreStep) {
        self.reseals.load(groupID, isDeferred: isDeferred, &step)
    }

    /// Records that a message was sealed in the group's current state.
    mutating func noteSealed(_ message: EventID, in groupID: GroupID) { self.reseals.noteSent(message, in: groupID) }

    /// Ends a group's task, since its messages were loaded; nil if absent.
    mutating func finishReseal(of groupID: GroupID, _ step: inout CoreStep) -> Reseals.Reseal? {
        self.reseals.finish(groupID, &step)
    }

    /// Restores a group's task; false if the memo is unreadable.
    mutating func restoreReseal(of groupID: GroupID, _ memo: Secret) -> Bool { self.reseals.restore(groupID, memo) }

    /// Loads this account's recent messages after an epoch change if some that wait for a relay may be too old now.
    func loadSent(of groupID: GroupID, in epoch: Epoch, _ step: inout CoreStep) {
        guard epoch > Epoch.first.later(by: Self.maximumUnsentAge),
            self.queue.contains(where: { $0.groupID == groupID && $0.purpose == .message })
        else { return }
        step.effects.append(.loadSent(groupID: groupID, fromEpoch: epoch.earlier(by: 16)))
    }

    /// Whether a message must be sealed again: a rollback undid its epoch, or it waited for a relay too long.
    ///
    /// - Parameter reseal: the finished task of its group; nil if no rollback is the cause.
    func mustReseal(_ message: StoredMessage, after reseal: Reseals.Reseal?, in epoch: Epoch) -> Bool {
        let isUndone = reseal.map { message.epoch >= $0.fromEpoch && !$0.sent.contains(message.id) } ?? false
        let isTooOld =
            !message.epoch.isWithin(Self.maximumUnsentAge, of: epoch)
            && !self.queue.rows(ofMessage: message.id, in: message.groupID).isEmpty
        return isUndone || isTooOld
    }

    /// Whether a message that is sealed again was reported as sent before: no row of it waits for its first relay.
    func wasSent(_ id: EventID, in groupID: GroupID) -> Bool {
        let rows = self.queue.rows { $0.messageID == id && $0.groupID == groupID }
        guard let row = rows.first else { return self.failure(of: id, in: groupID) == nil }
        return row.id.hasPrefix(Self.againPrefix)
    }
}
