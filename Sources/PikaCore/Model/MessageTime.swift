import Nostr

/// Bounds the time that a member gives its message.
///
/// Nothing but the member itself vouches for it: unbounded, a message of the year 3000 would stay the newest of its chat, and
/// outlive the group's timer and every retention rule.
enum MessageTime {
    /// Seconds that a message may be from before its arrival: relays keep events, and members are away, this long.
    static let maximumAge: Int64 = 3_888_000
    /// Seconds that it may be from after its arrival, as clocks differ.
    static let maximumLead: Int64 = 300

    /// The time that is closest to the stated one within the window around the arrival.
    static func clamped(_ stated: Int64, arrivedAt now: Int64) -> Int64 {
        min(max(stated, now.clampedSubtracting(Self.maximumAge), 0), max(now, 0).clampedAdding(Self.maximumLead))
    }
}
