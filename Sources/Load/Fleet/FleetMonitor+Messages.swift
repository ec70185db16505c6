import LoadReport
import Nostr
import PikaCore
import Synchronization

/// A message that no relay has accepted yet.
struct PendingSend {
    let group: Int
    let stamp: MessageStamp
    let times: SendTimes
    /// The think time of its sender before the next message; nil unless it sends one message at a time.
    let thinking: Duration?
    /// Called when the message is sent or has failed; possibly more than once.
    let done: @Sendable () -> Void
    /// Whether its sender has restarted or left since, and no longer waits for it. After a restart, a relay's
    /// answer that was being delivered before is not reported.
    var isAbandoned = false
}

extension FleetMonitor {
    /// Registers a message that an agent is about to send; returns nil if the group is unknown or the agent is not a
    /// member.
    func beginSend(_ agent: Int, to group: Int, intended: Duration?) -> (stamp: MessageStamp, times: SendTimes)? {
        let now = timeline.now
        let times = SendTimes(sent: now, intended: intended)
        guard let sent = state.withLock({ $0.groups[group]?.send(from: agent, times) }) else { return nil }
        recorder.expectDeliveries(sent.expected, at: now)
        if let intended { recorder.started(intended: intended, actual: now) }
        return (sent.stamp, times)
    }

    /// Notes that the message is in the outbox, which survives restarts.
    func queued(_ messageID: EventID, _ send: PendingSend) {
        let early = state.withLock { state in
            guard let early = state.earlyDeliveries.removeValue(forKey: messageID) else {
                state.sends[messageID] = send
                return AppState.Delivery?.none
            }
            return early
        }
        if let early { finish(send, early, timeline.now) }
    }

    /// Notes that the message will not be sent.
    func failSend(_ send: PendingSend, reason: String) {
        let now = timeline.now
        let excused = state.withLock { $0.groups[send.group]?.withdraw(send.stamp) ?? 0 }
        recorder.excuseDeliveries(excused, at: now)
        recorder.failure(.send, reason: reason, at: now)
        send.done()
    }

    /// Abandons messages that no relay has accepted by the end. Their deliveries stay expected, since they may still be
    /// in flight.
    func giveUpSends() {
        let now = timeline.now
        let left = state.withLock { state in
            defer { state.sends = [:] }
            return state.sends.values
        }
        for send in left {
            let reason =
                send.isAbandoned ? "sender ended before a relay's answer was reported" : "no relay answered in time"
            recorder.failure(.send, reason: reason, at: now)
            send.done()
        }
    }

    // MARK: Events of agents

    func delivered(_ messageID: EventID, _ delivery: AppState.Delivery, _ now: Duration) {
        guard delivery != .pending, delivery != .received else { return }
        let send = state.withLock { state in
            guard let send = state.sends.removeValue(forKey: messageID) else {
                state.earlyDeliveries[messageID] = delivery
                return PendingSend?.none
            }
            return send
        }
        if let send { finish(send, delivery, now) }
    }

    private func finish(_ send: PendingSend, _ delivery: AppState.Delivery, _ now: Duration) {
        if case .failed(let reason) = delivery { return failSend(send, reason: "refused: \(reason)") }
        state.withLock { $0.groups[send.group]?.markSent(send.stamp) }
        // The sender of an abandoned message did not wait, so there is no coordinated omission to correct.
        if let thinking = send.thinking, !send.isAbandoned {
            recorder.success(.send, from: send.times.sent, to: now, thinking: thinking)
        } else {
            recorder.success(.send, from: send.times.sent, to: now, intended: send.times.intended)
        }
        send.done()
    }

    func received(_ index: Int, _ chatID: ChatID, _ message: MessageEvent, _ inboxID: Int64, _ now: Duration) {
        guard let stamp = MessageStamp(message.content) else { return }
        let recorded = state.withLock { state -> (GroupLedger.Arrival, Duration?)? in
            // Events with non-durable completions are delivered again after a restart; these are not duplicates.
            guard inboxID > state.lastInboxIDs[index] ?? 0, let group = state.numbers[chatID] else { return nil }
            state.lastInboxIDs[index] = inboxID
            state.recent.note(stamp, of: message.id)
            guard let arrival = state.groups[group]?.received(stamp, by: index) else { return nil }
            return (arrival, state.joinedAt[JoinKey(agent: index, group: group)])
        }
        guard let (arrival, joinedAt) = recorded else { return }
        if arrival.isFirstForMember, let joinedAt {
            recorder.reached(.firstMessage)
            recorder.success(.firstMessage, from: joinedAt, to: now)
        }
        if arrival.verdict == .repeated { recorder.delivered(.duplicate, at: now) }
        guard let times = arrival.expectedSince else { return }
        recorder.delivered(arrival.verdict == .inOrder ? .inOrder : .outOfOrder, at: now)
        recorder.success(.deliver, from: times.sent, to: now, intended: times.intended)
    }

    /// Handles a withdrawn or restored message of a group of the second generation. The sender sends a withdrawn
    /// message again, so another delivery is expected.
    func withdrawn(_ index: Int, _ chatID: ChatID, _ message: WithdrawnEvent, _ now: Duration) {
        let expected = state.withLock { state -> Int in
            guard let group = state.numbers[chatID], let stamp = state.recent[message.id] else { return 0 }
            if message.isRestored {
                return state.groups[group]?.restored(stamp, by: index) == true ? -1 : 0
            }
            return state.groups[group]?.withdrawn(stamp, by: index, at: now) == true ? 1 : 0
        }
        if expected > 0 { recorder.expectDeliveries(1, at: now) }
        if expected < 0 { recorder.excuseDeliveries(1, at: now) }
    }
}

/// Stamps of the latest received messages. Only messages of a group's last few epochs can be withdrawn, so that a bounded
/// number suffices.
struct RecentMessages {
    private static let capacity = 20_000

    private var stamps: [EventID: MessageStamp] = [:]
    /// The ids in the order of their arrival, as a ring.
    private var order: [EventID] = []
    private var next = 0

    subscript(messageID: EventID) -> MessageStamp? { stamps[messageID] }

    mutating func note(_ stamp: MessageStamp, of messageID: EventID) {
        guard stamps.updateValue(stamp, forKey: messageID) == nil else { return }
        guard order.count == Self.capacity else {
            order.append(messageID)
            return
        }
        stamps[order[next]] = nil
        order[next] = messageID
        next = (next + 1) % Self.capacity
    }
}
