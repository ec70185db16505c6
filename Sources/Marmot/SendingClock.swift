import Nostr

/// Times of the events that this account sends in a group.
///
/// Stored events come in the order of their seconds, then of their ids. An event that shares its second with the commit or
/// proposal that it builds on may be read first, and MDK does not open it later. So every event gets a later second
/// than the one before it, as far as the limits on the lead over the clock allow.
struct SendingClock: Sendable {
    /// Seconds that a burst of messages may run ahead of the clock; beyond that, messages of one epoch share a second.
    static let maximumBurstLead: Int64 = 10
    /// Seconds that an event may be ahead of the clock so that it follows a commit or proposal. Members refuse 300.
    static let maximumLead: Int64 = 240

    private var lastSent = Int64.min
    private var lastHandshake = Int64.min

    /// Notes the time of a commit or proposal, this account's or another's, that later events must follow.
    mutating func follow(_ time: Int64) { self.lastHandshake = max(self.lastHandshake, time) }

    /// The time of the next message.
    mutating func messageTime(now: Int64) -> Int64 {
        let time = max(
            now, Self.after(self.lastSent, now, lead: Self.maximumBurstLead),
            Self.after(self.lastHandshake, now, lead: Self.maximumLead))
        self.lastSent = max(self.lastSent, time)
        return time
    }

    /// The time of the next commit or proposal.
    mutating func handshakeTime(now: Int64) -> Int64 {
        let time = max(now, Self.after(max(self.lastSent, self.lastHandshake), now, lead: Self.maximumLead))
        self.lastSent = max(self.lastSent, time)
        self.follow(time)
        return time
    }

    private static func after(_ last: Int64, _ now: Int64, lead: Int64) -> Int64 {
        min(last.clampedAdding(1), now.clampedAdding(lead))
    }
}
