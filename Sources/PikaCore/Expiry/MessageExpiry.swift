import Marmot
import Nostr

/// The timer of disappearing messages: the time at which the next stored message expires (NIP-40).
struct MessageExpiry: Sendable {
    /// Milliseconds after which a later expiry is checked again.
    private static let longestDelay: Int64 = 86_400_000

    /// The next expiry.
    private var next: UnixTime?
    /// The wake-up scheduled for it, in Unix milliseconds.
    private var wake: Int64?

    /// Registers the expiry of a stored message.
    mutating func register(_ time: UnixTime?, _ step: inout CoreStep) {
        guard let time, time < self.next ?? .distantFuture else { return }
        self.next = time
        self.schedule(&step)
    }

    /// Schedules a wake-up at the next expiry, or in a day if that is sooner.
    private mutating func schedule(_ step: inout CoreStep) {
        guard let next = self.next else { return }
        let latest = step.nowMilliseconds + Self.longestDelay
        let time = next > UnixTime(milliseconds: latest) ? latest : max(next.milliseconds, step.nowMilliseconds)
        guard time < self.wake ?? .max else { return }
        self.wake = time
        step.effects.append(.wake(.expiry, atMilliseconds: time))
    }

    /// Handles the wake-up: deletes expired messages from the store and requests the next expiry. Returns whether
    /// messages have expired.
    mutating func wakeUp(_ step: inout CoreStep) -> Bool {
        // Of several timers only the last one scheduled, which is the earliest, counts.
        guard let wake = self.wake, wake <= step.nowMilliseconds else { return false }
        self.wake = nil
        guard let next = self.next, next <= step.now else {
            self.schedule(&step)
            return false
        }
        self.next = nil
        step.changes.append(.deleteExpired(at: step.now))
        step.effects.append(.loadNextExpiry)
        return true
    }
}
