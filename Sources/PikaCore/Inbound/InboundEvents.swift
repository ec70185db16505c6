/// Events on their way in: those seen, those that wait to be opened, and what their times say about the clock.
struct InboundEvents: Sendable {
    var seen: SeenEvents
    var waiting = WaitingEvents()
    var clocks = ClockComparison()

    init(seen: SeenEvents) {
        self.seen = seen
    }
}
