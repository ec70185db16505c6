import Nostr

/// Gaps in connectivity: the new events on each relay after it reconnected, and those still undecided.
struct RelayGaps: Sendable {
    /// A read whose events are not all decided yet.
    private struct Gap: Sendable {
        /// The relay's cursor when it reconnected.
        let from: UnixTime?
        var recovered = 0
        /// New events that were neither processed nor dropped.
        var undecided: Set<EventID> = []
        var isReported = false
    }

    private var gaps: [RelayURL: Gap] = [:]

    /// Opens a gap for a relay that has reconnected.
    mutating func open(at relay: RelayURL, from cursor: UnixTime?) { self.gaps[relay] = Gap(from: cursor) }

    mutating func remove(_ relay: RelayURL) { self.gaps[relay] = nil }

    /// Returns the visible gap after a failed read; nil if none is open.
    func afterFailedRead(of relay: RelayURL, _ shown: AppState.RelayGap?, now: UnixTime) -> AppState.RelayGap? {
        guard let gap = self.gaps[relay], !gap.isReported else { return nil }
        var shown = shown ?? AppState.RelayGap(from: gap.from, to: now)
        shown.to = now
        shown.failedReads += 1
        return shown
    }

    /// Records that a relay was read to the end; its events are about to be processed. Returns the visible gap; nil if
    /// none is open.
    mutating func noteRead(
        of relay: RelayURL, undecided: Set<EventID>, _ shown: AppState.RelayGap?, now: UnixTime
    ) -> AppState.RelayGap? {
        guard let gap = self.gaps[relay], !gap.isReported else { return nil }
        self.gaps[relay]?.undecided = undecided
        var shown = shown ?? AppState.RelayGap(from: gap.from, to: now)
        shown.to = now
        shown.isRead = true
        return shown
    }

    /// Whether all gaps are reported and all their events decided.
    var isComplete: Bool { self.gaps.values.allSatisfy { $0.undecided.isEmpty && $0.isReported } }

    /// Recounts the processed events; each gap is reported once none of its events is held.
    ///
    /// - Parameters:
    ///   - shown: the visible gap of a relay.
    ///   - isHeld: whether one of the events is a held live event.
    /// - Returns: the visible gaps that were recounted.
    mutating func recount(
        shown: (RelayURL) -> AppState.RelayGap?, isSeen: (EventID) -> Bool, isHeld: (Set<EventID>) -> Bool,
        _ step: inout CoreStep
    ) -> [(relay: RelayURL, gap: AppState.RelayGap)] {
        var recounted: [(relay: RelayURL, gap: AppState.RelayGap)] = []
        for (relay, var gap) in self.gaps where !gap.undecided.isEmpty || !gap.isReported {
            guard var visible = shown(relay), visible.isRead else { continue }
            let decided = gap.undecided.filter(isSeen)
            gap.undecided.subtract(decided)
            gap.recovered += decided.count
            visible.recovered = gap.recovered
            visible.unknown = gap.undecided.count
            recounted.append((relay, visible))
            if !gap.isReported, !isHeld(gap.undecided) {
                gap.isReported = true
                step.effects.append(.note(.gap(relay, visible)))
            }
            self.gaps[relay] = gap
        }
        return recounted
    }
}
