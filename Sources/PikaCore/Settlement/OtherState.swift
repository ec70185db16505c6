import MLS
import Marmot
import Nostr

/// An alternative to the present state of a group of the second generation, and its latest use by other members: the
/// latest waiting event that it or a state after it opens.
struct OtherState: Sendable {
    /// Limit on repeated reads of all waiting events. Each tries many events with many keys, and a member can send any
    /// number of commits.
    static let maximumRepetitions = 16
    /// Milliseconds after which any pass has ended.
    private static let passTime: Int64 = 10_000

    let group: ComponentGroup
    /// The state after the events that were read. Not stored.
    private var probe: ConvergingGroup
    /// Clock of ``probe`` alone, in milliseconds: a pass ends as soon as its events have been read.
    private var clock: Int64 = 0
    private var isFresh = true
    private var repetitions = 0
    private var latest: UnixTime?

    init(_ group: ComponentGroup) {
        self.group = group
        self.probe = ConvergingGroup(group)
    }

    /// Time of the latest opened event; nil if none was opened, or if this account is not a member afterwards.
    var use: UnixTime? { self.probe.isActive ? self.latest : nil }

    /// Reads newly arrived events. The first call, and each of the first ``maximumRepetitions`` commits, read all waiting
    /// events instead.
    ///
    /// - Parameters:
    ///   - now: later event times count as this one, because senders choose them.
    ///   - waiting: returns all waiting events of the group, `fresh` among them.
    mutating func read(_ fresh: [Event], now: UnixTime, waiting: () -> [Event]) {
        var events = self.isFresh ? waiting() : fresh
        self.isFresh = false
        while self.read(events, now: now), self.repetitions < Self.maximumRepetitions {
            self.repetitions += 1
            events = waiting()
        }
    }

    /// Returns whether the probe has a new state, which may open further events.
    private mutating func read(_ events: [Event], now: UnixTime) -> Bool {
        let version = self.probe.convergence.version
        for event in events {
            guard let message = try? self.probe.open(event) else { continue }
            let time = min(event.createdAt, now)
            self.latest = max(self.latest ?? time, time)
            _ = self.probe.receive(message, now: self.clock)
        }
        self.clock += Self.passTime
        _ = self.probe.advance(now: self.clock)
        return self.probe.convergence.version != version
    }
}
