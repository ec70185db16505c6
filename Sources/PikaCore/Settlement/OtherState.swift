import MLS
import Marmot
import Nostr

/// A state of a joined group of the second generation beside the one that the group is in, and the use that other members
/// make of it: the waiting events that it opens, and that the states which follow from it open.
struct OtherState: Sendable {
    let group: ComponentGroup
    /// The state after the events that were read. Its clock is its own: every pass ends at once. Not stored.
    private var probe: ConvergingGroup
    private var clock: Int64 = 0
    /// Milliseconds after which any pass is over.
    private static let passTime: Int64 = 10_000
    /// The number of commits after which all waiting events are read again: a member can send any number of commits, and
    /// trying many events on many keys takes long.
    static let maximumRounds = 16
    private var isFresh = true
    private var rounds = 0
    private var latest: UnixTime?

    init(_ group: ComponentGroup) {
        self.group = group
        self.probe = ConvergingGroup(group)
    }

    /// The time of the latest event that was opened; nil without one, and if this account cannot continue there.
    var use: UnixTime? { self.probe.isActive ? self.latest : nil }

    /// Reads newly arrived events; on the first call, and after each of the first ``maximumRounds`` commits, all waiting ones.
    ///
    /// - Parameter now: limits the times of events, which their senders choose.
    mutating func read(_ fresh: [Event], now: UnixTime, waiting: () -> [Event]) {
        var events = self.isFresh ? waiting() : fresh
        self.isFresh = false
        while self.read(events, now: now), self.rounds < Self.maximumRounds {
            self.rounds += 1
            events = waiting()
        }
    }

    /// Returns whether other events may be readable now.
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
