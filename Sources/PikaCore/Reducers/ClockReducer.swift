import Marmot
import Nostr

/// Handling of a wrong clock: events ahead of it wait, and operators are told.
extension CoreModel {
    /// Registers waiting events that arrived before their time; called once, with all stored ones.
    mutating func restoreEarlyEvents() {
        for (nostrGroupID, waiting) in self.waiting.all {
            let dueTime = GroupEvents.dueTime(of: waiting.event)
            guard dueTime > waiting.arrivedAt else { continue }
            self.early.insert(waiting.event.id, under: nostrGroupID, dueTime: dueTime)
        }
    }

    /// Registers an event that is ahead of the clock.
    mutating func awaitClock(_ event: Event, _ step: inout CoreStep) {
        guard self.waiting.contains(event.id), let id = try? GroupEvents.nostrGroupID(of: event) else { return }
        if self.early.count == 0 {
            step.effects.append(.note(.ahead(seconds: event.createdAt.clampedSubtracting(step.now))))
        }
        self.early.insert(event.id, under: id, dueTime: GroupEvents.dueTime(of: event))
        self.wakeForEarly(&step)
    }

    /// Retries the events whose time has come.
    mutating func retryEarly(_ step: inout CoreStep) {
        for id in self.early.takeDue(now: step.now).sorted() {
            for groupID in self.routes.groups(claiming: id) { self.retryWaiting(of: groupID, &step) }
        }
        self.wakeForEarly(&step)
    }

    mutating func wakeForEarly(_ step: inout CoreStep) {
        guard let time = self.early.nextWake(nowMilliseconds: step.nowMilliseconds) else { return }
        step.effects.append(.wake(.clock, atMilliseconds: time))
    }

    // MARK: Comparing clocks

    mutating func noteClock(of relay: RelayURL, offset: Int64, _ step: inout CoreStep) {
        self.clocks.forget(relaysBut: self.allRelays)
        self.clocks.note(offset, of: relay)
        self.reportClock(&step)
    }

    /// Compares the clock with the time of a message that arrived live.
    mutating func compareClock(with message: ReceivedMessage, _ step: inout CoreStep) {
        guard message.rumor.pubkey != self.account.publicKey, self.catchingUp.isEmpty, self.reading.isEmpty else {
            return
        }
        self.clocks.noteMessage(lead: message.rumor.createdAt.clampedSubtracting(step.now))
        self.reportClock(&step)
    }

    private mutating func reportClock(_ step: inout CoreStep) {
        if let offset = self.clocks.newOffset() { step.effects.append(.note(.clockOffset(seconds: offset))) }
        if let offset = self.clocks.change() {
            step.effects.append(.note(.clock(offset: offset, isOff: self.clocks.reported != nil)))
        }
    }
}
