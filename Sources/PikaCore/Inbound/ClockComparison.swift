import Nostr

/// Compares this machine's clock with those of relays and members.
struct ClockComparison: Sendable {
    /// Seconds by which clocks may differ without a warning; network delays count too.
    static let tolerance: Int64 = 30
    /// The number of latest live messages compared, and the number needed for a verdict.
    private static let samples = 8
    private static let neededSamples = 3

    /// Each relay's clock minus ours, in seconds.
    private var relays: [RelayURL: Int64] = [:]
    /// Stated time minus arrival time of the latest live messages of others, oldest first.
    private var members: [Int64] = []
    /// The last reported offset; nil while the clocks agree.
    private(set) var reported: Int64?
    private var measured: Int64?

    mutating func note(_ offset: Int64, of relay: RelayURL) { self.relays[relay] = offset }

    mutating func forget(relaysBut kept: [RelayURL]) { self.relays = self.relays.filter { kept.contains($0.key) } }

    /// Records the stated time of a live message minus its arrival time.
    mutating func noteMessage(lead: Int64) {
        self.members.append(lead)
        if self.members.count > Self.samples { self.members.removeFirst() }
    }

    /// Their clocks minus ours, in seconds: positive if ours is behind. Nil without enough samples.
    ///
    /// Relays' clocks are preferred. A message can be late for many reasons, so members' times only reveal a clock that
    /// is behind.
    var offset: Int64? {
        if let relays = Self.median(Array(self.relays.values)) { return relays }
        guard self.members.count >= Self.neededSamples, let lead = Self.median(self.members) else { return nil }
        return max(0, lead)
    }

    /// Returns the offset if it differs from that of the last call.
    mutating func newOffset() -> Int64? {
        guard let offset = self.offset, offset != self.measured else { return nil }
        self.measured = offset
        return offset
    }

    /// Returns the offset if it is to be reported: it left the tolerance, returned to it, or changed by more than it.
    mutating func change() -> Int64? {
        guard let offset = self.offset else { return nil }
        let isOff = offset.magnitude > UInt64(Self.tolerance)
        guard isOff || self.reported != nil else { return nil }
        if let reported, isOff, offset.clampedSubtracting(reported).magnitude <= UInt64(Self.tolerance) { return nil }
        self.reported = isOff ? offset : nil
        return offset
    }

    /// Reports a new offset, and a clock that left the tolerance or returned to it.
    mutating func report(_ step: inout CoreStep) {
        if let offset = self.newOffset() { step.effects.append(.note(.clockOffset(seconds: offset))) }
        if let offset = self.change() {
            step.effects.append(.note(.clock(offset: offset, isOff: self.reported != nil)))
        }
    }

    private static func median(_ values: [Int64]) -> Int64? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
}
