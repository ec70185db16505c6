/// Position in the live stream: drops repetitions, and tells when events were lost.
package struct EventCursor: Hashable, Sendable, Codable {
    package enum Verdict: Hashable, Sendable {
        /// A new event.
        case new
        /// The event was applied already.
        case repeated
        /// Events were lost before this one: read all states again, then apply it.
        case afterGap
    }

    /// The number of the last applied event; the argument `after` of the next connection.
    package private(set) var last: Int

    package init(last: Int = 0) { self.last = last }

    /// Judges an event and moves past it.
    ///
    /// `hello` carries the number of the last event before it, so that it starts a stream after a restart of the cloud,
    /// whose numbers may begin anew.
    package mutating func admit(_ event: LiveEvent) -> Verdict {
        if case .hello(let isResumed) = event.body {
            guard !isResumed else { return .repeated }
            self.last = event.sequence
            return .afterGap
        }
        guard event.sequence > self.last else { return .repeated }
        let (next, overflow) = self.last.addingReportingOverflow(1)
        let isNext = !overflow && event.sequence == next
        self.last = event.sequence
        return isNext ? .new : .afterGap
    }
}
