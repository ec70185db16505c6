import Marmot
import Nostr

/// Messages that end: their local copies are deleted when they do (wire §5.9, NIP-40).
extension CoreModel {
    /// Takes note that a stored message ends then, in Unix seconds.
    mutating func awaitExpiry(at time: Int64?, _ step: inout CoreStep) {
        guard let time, time < self.nextExpiry ?? .max else { return }
        self.nextExpiry = time
        self.planExpiry(&step)
    }

    /// Wakes the core when the next message ends, or in a day: what ends later than that is looked at again.
    private mutating func planExpiry(_ step: inout CoreStep) {
        guard let next = self.nextExpiry else { return }
        let latest = step.nowMilliseconds + 86_400_000
        let time = next > latest / 1000 ? latest : max(next.clampedMultiplied(by: 1000), step.nowMilliseconds)
        guard time < self.expiryWake ?? .max else { return }
        self.expiryWake = time
        step.effects.append(.wake(.expiry, atMilliseconds: time))
    }

    /// Deletes what has ended, in the store and on the screens, and asks for what ends next.
    mutating func deleteExpired(_ step: inout CoreStep) {
        // Of several timers the one that was planned last, the earliest, counts.
        guard let wake = self.expiryWake, wake <= step.nowMilliseconds else { return }
        self.expiryWake = nil
        guard let next = self.nextExpiry, next <= step.now else { return self.planExpiry(&step) }
        self.nextExpiry = nil
        step.changes.append(.deleteExpired(at: step.now))
        step.effects.append(.loadNextExpiry)
        let now = step.now
        self.dropShown { ($0.expiresAt ?? .max) <= now }
        self.forgetLastMessages { ($0.lastMessageExpiresAt ?? .max) <= now }
    }
}
