import Nostr

/// Assigns times to the events that this account sends in a group.
///
/// Relays return stored events ordered by second, then by id. An event with the same second as the commit or proposal
/// it builds on may therefore be read first, and MDK does not open it later. So every event gets a later second than
/// the one before it, within the limits on how far it may run ahead of the clock.
struct SendingClock: Sendable {
    /// Maximum lead of a burst of messages over the clock, in seconds; beyond it, messages of one epoch share a second.
    static let maximumBurstLead: Int64 = 10
    /// Maximum lead over the clock, in seconds, of an event that must follow a commit or proposal. Members refuse 300.
    static let maximumLead: Int64 = 240

    private var lastSent = UnixTime.distantPast
    private var lastHandshake = UnixTime.distantPast

    /// Records the time of a commit or proposal, by any account, that later events must follow.
    mutating func follow(_ time: UnixTime) { self.lastHandshake = max(self.lastHandshake, time) }

    /// Returns the time of the next message.
    mutating func messageTime(now: UnixTime) -> UnixTime {
        let time = max(
            now, Self.after(self.lastSent, now, lead: Self.maximumBurstLead),
            Self.after(self.lastHandshake, now, lead: Self.maximumLead))
        self.lastSent = max(self.lastSent, time)
        return time
    }

    /// Returns the time of the next commit or proposal.
    mutating func handshakeTime(now: UnixTime) -> UnixTime {
        let time = max(now, Self.after(max(self.lastSent, self.lastHandshake), now, lead: Self.maximumLead))
        self.lastSent = max(self.lastSent, time)
        self.follow(time)
        return time
    }

    private static func after(_ last: UnixTime, _ now: UnixTime, lead: Int64) -> UnixTime {
        min(last + 1, now + lead)
    }
}
