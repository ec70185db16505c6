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

    var finished: FinishedSend { FinishedSend(group: group, stamp: stamp) }
}

/// A message that a relay has accepted, or that has failed.
struct FinishedSend {
    let group: Int
    let stamp: MessageStamp
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
            state.finished.note(send.finished, of: messageID)
            return early
        }
        if let early { finish(send, early, timeline.now) }
    }

    /// Notes that the message will not be sent.
    func failSend(_ send: PendingSend, reason: String) {
        let now = timeline.now
        let excused = state.withLock { $0.groups[send.group]?.giveUp(send.stamp) ?? 0 }
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
            for (messageID, send) in state.sends { state.finished.note(send.finished, of: messageID) }
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
        let (send, excused) = state.withLock { state -> (PendingSend?, Int) in
            if let send = state.sends.removeValue(forKey: messageID) {
                state.finished.note(send.finished, of: messageID)
                return (send, 0)
            }
            if let finished = state.finished[messageID] { return (nil, state.update(finished, delivery)) }
            state.earlyDeliveries[messageID] = delivery
            return (nil, 0)
        }
        if excused > 0 { recorder.excuseDeliveries(excused, at: now) }
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

extension FleetMonitor.State {
    /// Handles another report about a message whose sending has ended: if its branch lost and it cannot be sent again,
    /// nobody has to receive it. Returns the number of deliveries no longer expected.
    fileprivate mutating func update(_ send: FinishedSend, _ delivery: AppState.Delivery) -> Int {
        guard case .failed(let reason) = delivery, ResendRefusal.isReason(reason) else { return 0 }
        return groups[send.group]?.giveUp(send.stamp) ?? 0
    }
}

/// Facts about the latest messages. Only messages of a group's last few epochs can be withdrawn, so that a bounded number
/// suffices.
struct RecentMessages<Fact> {
    private let capacity = 20_000

    private var facts: [EventID: Fact] = [:]
    /// The ids in the order of their arrival, as a ring.
    private var order: [EventID] = []
    private var next = 0

    subscript(messageID: EventID) -> Fact? { facts[messageID] }

    mutating func note(_ fact: Fact, of messageID: EventID) {
        guard facts.updateValue(fact, forKey: messageID) == nil else { return }
        guard order.count == capacity else {
            order.append(messageID)
            return
        }
        facts[order[next]] = nil
        order[next] = messageID
        next = (next + 1) % capacity
    }
}
