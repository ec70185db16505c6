import Marmot
import Nostr

/// Disappearing messages: local copies are deleted at their expiry (wire §5.9, NIP-40).
extension CoreModel {
    /// Registers the expiry of a stored message, in Unix seconds.
    mutating func awaitExpiry(at time: Int64?, _ step: inout CoreStep) {
        guard let time, time < self.nextExpiry ?? .max else { return }
        self.nextExpiry = time
        self.planExpiry(&step)
    }

    /// Schedules a wake-up at the next expiry, or in a day if that is sooner; later expiries are then checked again.
    private mutating func planExpiry(_ step: inout CoreStep) {
        guard let next = self.nextExpiry else { return }
        let latest = step.nowMilliseconds + 86_400_000
        let time = next > latest / 1000 ? latest : max(next.clampedMultiplied(by: 1000), step.nowMilliseconds)
        guard time < self.expiryWake ?? .max else { return }
        self.expiryWake = time
        step.effects.append(.wake(.expiry, atMilliseconds: time))
    }

    /// Deletes expired messages, in the store and on the screens, and requests the next expiry.
    mutating func deleteExpired(_ step: inout CoreStep) {
        // Of several timers only the last one scheduled, which is the earliest, counts.
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
