import Nostr

/// Assigns the times of this account's messages in one chat, so that they keep their order for every member.
///
/// Members order messages by `created_at`, then by id, which is arbitrary. Each message therefore gets a later second than
/// the one before it, also across a clock that steps back. The chat's record stores the times, so this holds after a
/// restart too.
struct OwnMessageTimes: Sendable, Hashable {
    /// Seconds by which a burst may run ahead of the clock: below ``MessageTime/maximumLead``, because the clocks of
    /// receivers differ. At this bound messages share the second until the clock follows, and ids order them.
    static let maximumLead: Int64 = 240

    /// The time of the newest message, sent or held.
    private(set) var last: UnixTime?
    /// The time of the newest message that was encrypted; held messages may have later times.
    private(set) var sealed: UnixTime?

    init(last: UnixTime? = nil, sealed: UnixTime? = nil) {
        self.last = last
        self.sealed = sealed
    }

    /// Returns the time of the next message: the later one of `now` and `notBefore`, or a second after the last message.
    ///
    /// If the last message is further ahead than receivers accept, this clock was wrong and has stepped back. The next
    /// message then has the present time, and the order starts over: receivers clamp those times by their own clocks.
    func next(now: UnixTime, notBefore: UnixTime = 0) -> UnixTime {
        let earliest = max(now, notBefore)
        guard let last = self.last, last >= earliest else { return earliest }
        let lead = last.seconds(since: now)
        guard lead <= MessageTime.maximumLead else { return earliest }
        return lead < Self.maximumLead ? last + 1 : last
    }

    /// Whether a held message must get a new time: it waited too long, or a message after it in time is already sent.
    func isStale(_ time: UnixTime, now: UnixTime) -> Bool {
        time < now - HeldMessages.maximumAge || self.sealed.map { time < $0 } ?? false
    }

    /// Records the time that ``next(now:notBefore:)`` returned for a message.
    mutating func assign(_ time: UnixTime) { self.last = time }

    /// Records that a message with this time was encrypted.
    mutating func seal(_ time: UnixTime) { self.sealed = time }

    /// Records a message that another copy of this account, or an earlier state, has sent.
    mutating func follow(_ time: UnixTime) { self.last = max(self.last ?? time, time) }
}
