import Nostr

/// Bounds the time that a sender states for its message.
///
/// Only the sender vouches for it: unbounded, a message of the year 3000 would stay the newest of its chat, and outlive
/// the group's timer and every retention rule.
enum MessageTime {
    /// Seconds by which the time may precede arrival: relays keep events, and members stay offline, this long.
    static let maximumAge: Int64 = 3_888_000
    /// Seconds by which the time may follow arrival, since clocks differ.
    static let maximumLead: Int64 = 300

    /// Returns the stated time, clamped to the window around the arrival.
    static func clamped(_ stated: UnixTime, arrivedAt now: UnixTime) -> UnixTime {
        min(max(stated, now - Self.maximumAge, 0), max(now, 0) + Self.maximumLead)
    }
}
