public import Nostr

/// Expiry of messages: the group's disappearing timer (group data version 3, docs/protocol/marmot.md §5.9) and NIP-40.
extension GroupData {
    /// Returns the time at which local copies of an inner event must be deleted: the end of the timer
    /// or the event's own `expiration`, whichever is earlier; nil if it never expires.
    ///
    /// - Parameter time: start of the timer if the inner event's own time cannot be trusted.
    public func expiry(of rumor: UnsignedEvent, sentAt time: UnixTime? = nil) -> UnixTime? {
        [self.timerEnd(from: time ?? rumor.createdAt), rumor.expiration].compactMap { $0 }.min()
    }

    /// Returns the `expiration` of a kind 445 event that carries a message: the timer's end or the caller's value,
    /// whichever is earlier. Commits and proposals never have one.
    func wrapperExpiration(createdAt: UnixTime, requested: UnixTime?) -> UnixTime? {
        [self.timerEnd(from: createdAt), requested].compactMap { $0 }.min()
    }

    /// Returns the time at which the timer ends; nil without a timer, or if the time overflows.
    private func timerEnd(from time: UnixTime) -> UnixTime? {
        guard let seconds = self.disappearingSeconds.flatMap({ Int64(exactly: $0) }) else { return nil }
        let (end, overflow) = time.seconds.addingReportingOverflow(seconds)
        return overflow ? nil : UnixTime(end)
    }
}
