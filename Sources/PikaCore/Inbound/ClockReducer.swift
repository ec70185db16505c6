import Marmot
import Nostr

/// Handles a wrong clock: events ahead of it wait, and operators are warned.
extension CoreModel {
    /// Retries the events whose time has come.
    mutating func retryEarly(_ step: inout CoreStep) {
        for id in self.inbound.waiting.dueRoutes(now: step.now) {
            for groupID in self.groups.routes.groups(claiming: id) { self.retryWaiting(of: groupID, &step) }
        }
        self.inbound.waiting.scheduleClockCheck(&step)
    }

    /// Ends the scheduled check of the clock.
    mutating func endClockCheck(_ step: inout CoreStep) {
        self.inbound.waiting.endClockCheck()
        self.retryEarly(&step)
    }

    mutating func noteClock(of relay: RelayURL, offset: Int64, _ step: inout CoreStep) {
        self.inbound.noteClock(of: relay, offset: offset, among: self.allRelays, &step)
    }

    /// Compares the clock with the times of a message that arrived live, and of the event that carried it: either may run
    /// ahead of the sender's clock in a burst, so the earlier one counts.
    mutating func compareClock(with message: ReceivedMessage, sentAt: UnixTime, _ step: inout CoreStep) {
        guard message.rumor.pubkey != self.account.publicKey, self.catchUp.isIdle else { return }
        self.inbound.noteMessage(lead: min(message.rumor.createdAt, sentAt).seconds(since: step.now), &step)
    }
}
