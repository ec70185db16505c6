/// Inbound events: the ids of processed ones, those that cannot be opened yet, and the clock check by their times.
struct InboundEvents: Sendable {
    var seen: SeenEvents
    var waiting = WaitingEvents()
    var clocks = ClockComparison()

    init(seen: SeenEvents) {
        self.seen = seen
    }
}
