import ConsolePages

/// What a live page shows: decides which parts an update has. Pure.
struct LiveUpdates: Sendable {
    /// The number of the newest update, or of the page as it was loaded.
    private(set) var rev: UInt64
    /// The markup of the parts that were sent.
    private var shown: [String: HTML] = [:]

    init(after rev: UInt64) {
        self.rev = rev
    }

    /// Returns the update to a newer page; nil if nothing in it has changed.
    mutating func update(to rendered: RenderedPage) -> PageUpdate? {
        guard rendered.rev > rev else { return nil }
        rev = rendered.rev
        let parts = rendered.page.parts.filter { !$0.isFixed && shown[$0.id] != $0.html }
        for part in parts { shown[part.id] = part.html }
        return parts.isEmpty ? nil : PageUpdate(rev: rev, now: rendered.now, parts: parts)
    }

    /// Returns the update of the page of logs by newer lines; nil without one.
    mutating func update(with lines: [LogLine], now: Int64) -> PageUpdate? {
        let newer = lines.filter { UInt64(clamping: $0.number) > rev }
        guard !newer.isEmpty else { return nil }
        let update = PageUpdate(lines: newer, now: now)
        rev = update.rev
        return update
    }
}
