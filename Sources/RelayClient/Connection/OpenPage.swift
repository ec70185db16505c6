/// Bounds the stored events that a relay sends for one request before it ends them (EOSE, NIP-01).
///
/// Without a bound, a relay that never ends a page or keeps repeating it would keep the request waiting forever.
struct OpenPage: Hashable {
    private var events = 0
    private var bytes = 0
    /// The time when the page was first found without progress; nil if it has progressed since.
    private var quietSince: Duration?

    /// Counts an event, and returns whether the page stays within its bounds.
    ///
    /// - Parameter isNew: Whether this is the event's first time in the page.
    mutating func receive(bytes: Int, isNew: Bool, within limits: TransportConfiguration) -> Bool {
        if isNew { quietSince = nil }
        guard events < limits.pageEvents, bytes <= limits.pageBytes - self.bytes else { return false }
        events += 1
        self.bytes += bytes
        return true
    }

    /// Excuses a lack of progress, because reading was held.
    mutating func resetProgress() { quietSince = nil }

    /// Returns whether the page has made no progress for too long; called with every heartbeat.
    mutating func isOverdue(now: Duration, timeout: Duration) -> Bool {
        guard let quietSince else {
            quietSince = now
            return false
        }
        return now - quietSince >= timeout
    }
}
