import MLS
import Nostr

/// The age of this account's keys in a group, and the schedule of their renewal; kept as a memo.
struct KeyAge: Sendable, Hashable {
    /// The time of this account's last commit; nil if a renewal is due regardless of age: after joining, and after a
    /// renewal was displaced.
    var renewedAt: UnixTime?
    /// Unix milliseconds before which no renewal is made.
    var notBefore: Int64 = 0
    /// Consecutive renewals that other members' commits displaced.
    var attempts = 0
    /// Unix milliseconds from which other members' commits no longer postpone the renewal after joining; nil if they never
    /// do (``KeyRenewals/awaitQuiet(_:_:_:_:)``).
    var quietUntil: Int64?

    /// Consecutive displaced renewals after which none is tried until the keys are old.
    static let maximumAttempts = 5

    /// Unix milliseconds of the next renewal; nil for none.
    func due(_ policy: SelfUpdatePolicy) -> Int64? {
        guard self.notBefore < .max else { return nil }
        guard let renewedAt else { return self.notBefore }
        guard let every = policy.every else { return nil }
        let (end, overflow) = renewedAt.milliseconds.addingReportingOverflow(every.wholeMilliseconds)
        return overflow ? nil : max(end, self.notBefore)
    }

    /// Returns the schedule after another member's commit displaced a renewal: retries at growing delays, and after a
    /// few attempts none until the keys are old.
    func displaced(
        at now: Int64, _ policy: SelfUpdatePolicy, using random: inout some RandomNumberGenerator
    ) -> KeyAge {
        var age = self
        age.renewedAt = nil
        age.attempts += 1
        if age.attempts < Self.maximumAttempts {
            age.notBefore = now + policy.delay(using: &random) << Int64(age.attempts)
        } else {
            age.attempts = 0
            age.notBefore = policy.every.map { now + $0.wholeMilliseconds } ?? .max
        }
        return age
    }
}

/// The stored form: JSON, version 1.
extension KeyAge {
    var stored: Secret {
        var fields: JSONObject = [
            "v": 1, "not_before": .integer(self.notBefore), "attempts": .integer(Int64(self.attempts)),
        ]
        if let renewedAt { fields["renewed"] = .integer(renewedAt.seconds) }
        if let quietUntil { fields["quiet_until"] = .integer(quietUntil) }
        return Secret(JSONValue.object(fields).json())
    }

    init?(_ content: Secret) {
        guard let json = JSONValue(memo: content),
            let notBefore = json["not_before"]?.integer, let attempts = json["attempts"]?.integer
        else { return nil }
        self.init(
            renewedAt: json["renewed"]?.integer.map(UnixTime.init(_:)), notBefore: notBefore, attempts: Int(attempts),
            quietUntil: json["quiet_until"]?.integer)
    }
}

extension Duration {
    /// The duration in milliseconds, rounded down and clamped to the range of the type.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds.clampedMultiplied(by: 1000).clampedAdding(attoseconds / 1_000_000_000_000_000)
    }
}
