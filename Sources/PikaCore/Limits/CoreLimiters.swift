import Marmot
import Nostr

/// The core's rate limiters.
struct CoreLimiters: Sendable {
    /// The one key shared by all unknown inviters.
    private enum Strangers: Sendable { case all }

    var inviters = RateLimiter<PublicKey>()
    private var strangers = RateLimiter<Strangers>(capacity: 1)

    mutating func takeStranger(_ limit: RateLimit, nowMilliseconds: Int64) -> Bool {
        self.strangers.take(.all, limit, nowMilliseconds: nowMilliseconds)
    }
}

extension CoreModel {
    /// Returns whether an invitation is within the limits and worth the work of opening it: anyone can send them.
    mutating func looksAt(_ inviter: PublicKey, _ step: inout CoreStep) -> Bool {
        let limits = self.configuration.inviteLimits
        // The inviter's own limit first, so that a single inviter cannot exhaust the allowance of all strangers.
        if let limit = limits.perInviter,
            !self.limiters.inviters.take(inviter, limit, nowMilliseconds: step.nowMilliseconds)
        {
            step.effects.append(.note(.limited(scope: "inviter")))
            return false
        }
        if let limit = limits.strangers, !self.isKnown(inviter),
            !self.limiters.takeStranger(limit, nowMilliseconds: step.nowMilliseconds)
        {
            step.effects.append(.note(.limited(scope: "strangers")))
            return false
        }
        return true
    }

    private func isKnown(_ inviter: PublicKey) -> Bool {
        if case .only(let keys) = self.configuration.invites, keys.contains(inviter) { return true }
        return self.groups.values.contains { $0.isActive && $0.members.contains(inviter) }
    }
}
