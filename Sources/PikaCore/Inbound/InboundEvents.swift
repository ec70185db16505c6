import Nostr

/// Inbound events: the ids of processed ones, those that cannot be opened yet, and the clock check by their times.
struct InboundEvents: Sendable {
    private(set) var seen: SeenEvents
    var waiting = WaitingEvents()
    private var clocks = ClockComparison()

    init(seen: SeenEvents) {
        self.seen = seen
    }

    // MARK: Processed events

    /// Records an event that was authenticated and applied, durably.
    mutating func noteSeen(_ id: EventID, _ step: inout CoreStep) { self.seen.insert(id, &step) }

    /// Records an event that was refused, or that may still turn out to be junk, durably.
    mutating func noteRefused(_ id: EventID, _ step: inout CoreStep) { self.seen.insertRefused(id, &step) }

    // MARK: The clock

    /// Compares the clock with a relay's, and forgets the clocks of relays that are no longer used.
    mutating func noteClock(of relay: RelayURL, offset: Int64, among relays: [RelayURL], _ step: inout CoreStep) {
        self.clocks.forget(relaysBut: relays)
        self.clocks.note(offset, of: relay)
        self.clocks.report(&step)
    }

    /// Compares the clock with the stated time of a live message, minus its arrival time.
    mutating func noteMessage(lead: Int64, _ step: inout CoreStep) {
        self.clocks.noteMessage(lead: lead)
        self.clocks.report(&step)
    }
}
