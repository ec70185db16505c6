public import Nostr

/// Messages that end by themselves: the group's timer (group data version 3, wire §5.9) and NIP-40.
extension GroupData {
    /// When local copies of an inner event are to be deleted, in Unix seconds: at its time plus the timer, or at its own
    /// `expiration`, whichever is earlier; nil if it stays.
    ///
    /// - Parameter time: when the timer starts, if the inner event's own time is not to be believed.
    public func expiry(of rumor: UnsignedEvent, sentAt time: Int64? = nil) -> Int64? {
        [self.timerEnd(from: time ?? rumor.createdAt), rumor.expiration].compactMap { $0 }.min()
    }

    /// The `expiration` of a kind 445 event that carries a message: the timer's end, or what the caller asks for,
    /// whichever is earlier. Commits and proposals never have one.
    func wrapperExpiration(createdAt: Int64, requested: Int64?) -> Int64? {
        [self.timerEnd(from: createdAt), requested].compactMap { $0 }.min()
    }

    /// A timer beyond all time does not count.
    private func timerEnd(from time: Int64) -> Int64? {
        guard let seconds = self.disappearingSeconds.flatMap({ Int64(exactly: $0) }) else { return nil }
        let (end, overflow) = time.addingReportingOverflow(seconds)
        return overflow ? nil : end
    }
}
