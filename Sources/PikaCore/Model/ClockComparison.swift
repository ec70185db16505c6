import Nostr

/// Compares this machine's clock with those of relays and members.
struct ClockComparison: Sendable {
    /// Seconds that clocks may differ without a warning; network delays count too.
    static let tolerance: Int64 = 30
    /// How many of the latest live messages are compared, and how many are needed for a verdict.
    private static let samples = 8
    private static let neededSamples = 3

    /// Relays' clocks less ours, in seconds.
    private var relays: [RelayURL: Int64] = [:]
    /// Times of the latest live messages of others less their arrival, oldest first.
    private var members: [Int64] = []
    /// The offset that was reported last; nil while the clocks agree.
    private(set) var reported: Int64?
    private var measured: Int64?

    mutating func note(_ offset: Int64, of relay: RelayURL) { self.relays[relay] = offset }

    mutating func forget(relaysBut kept: [RelayURL]) { self.relays = self.relays.filter { kept.contains($0.key) } }

    /// Notes the time of a message that came live, less its arrival.
    mutating func noteMessage(lead: Int64) {
        self.members.append(lead)
        if self.members.count > Self.samples { self.members.removeFirst() }
    }

    /// Their clocks less ours, in seconds: positive if ours is behind. Nil if nobody told the time.
    ///
    /// Relays tell their time. A message can be late for many reasons, so members' only show a clock that is behind.
    var offset: Int64? {
        if let relays = Self.median(Array(self.relays.values)) { return relays }
        guard self.members.count >= Self.neededSamples, let lead = Self.median(self.members) else { return nil }
        return max(0, lead)
    }

    /// The offset if it is another than at the last call.
    mutating func newOffset() -> Int64? {
        guard let offset = self.offset, offset != self.measured else { return nil }
        self.measured = offset
        return offset
    }

    /// The offset if it is to be reported: it went beyond the tolerance, came back, or changed by more than that.
    mutating func change() -> Int64? {
        guard let offset = self.offset else { return nil }
        let isOff = offset.magnitude > UInt64(Self.tolerance)
        guard isOff || self.reported != nil else { return nil }
        if let reported, isOff, offset.clampedSubtracting(reported).magnitude <= UInt64(Self.tolerance) { return nil }
        self.reported = isOff ? offset : nil
        return offset
    }

    private static func median(_ values: [Int64]) -> Int64? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
}
