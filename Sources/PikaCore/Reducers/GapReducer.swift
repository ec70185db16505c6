import Nostr

/// Accounts for gaps in connectivity: the new events on a relay after it reconnected, and those still undecided.
extension CoreModel {
    /// A reading whose events are not all decided yet.
    struct OpenGap: Sendable {
        /// The relay's cursor when it reconnected, in Unix seconds.
        let from: Int64?
        var recovered = 0
        /// New events that were neither processed nor dropped.
        var undecided: Set<EventID> = []
        var isReported = false
    }

    /// Opens a gap for a relay that has reconnected.
    mutating func openGap(at relay: RelayURL) {
        self.openGaps[relay] = OpenGap(from: self.cursors[relay.string])
        self.setGap(nil, at: relay)
    }

    mutating func noteFailedRead(of relay: RelayURL, _ step: inout CoreStep) {
        guard let open = self.openGaps[relay], !open.isReported else { return }
        var gap = self.gap(at: relay) ?? AppState.RelayGap(from: open.from, to: step.now)
        gap.to = step.now
        gap.failedReads += 1
        self.setGap(gap, at: relay)
    }

    /// Records that a relay was read to the end; its events are about to be processed.
    mutating func noteRead(of relay: RelayURL, _ ids: [EventID], _ step: inout CoreStep) {
        guard var open = self.openGaps[relay], !open.isReported else { return }
        open.undecided = Set(ids.filter { !self.seen.contains($0) && !self.waiting.contains($0) })
        self.openGaps[relay] = open
        var gap = self.gap(at: relay) ?? AppState.RelayGap(from: open.from, to: step.now)
        gap.to = step.now
        gap.isRead = true
        self.setGap(gap, at: relay)
    }

    /// Recounts the processed events; called when a reading ends, and when waiting events were retried.
    mutating func settleGaps(_ step: inout CoreStep) {
        for (relay, var open) in self.openGaps where !open.undecided.isEmpty || !open.isReported {
            guard var gap = self.gap(at: relay), gap.isRead else { continue }
            let taken = open.undecided.filter(self.seen.contains)
            open.undecided.subtract(taken)
            open.recovered += taken.count
            let isHeld = self.held.contains { open.undecided.contains($0.id) }
            gap.recovered = open.recovered
            gap.unknown = open.undecided.count
            if gap != self.gap(at: relay) { self.setGap(gap, at: relay) }
            if !isHeld, !open.isReported {
                open.isReported = true
                step.effects.append(.note(.gap(relay, gap)))
            }
            self.openGaps[relay] = open
        }
    }

    private func gap(at relay: RelayURL) -> AppState.RelayGap? {
        self.state.relays.first { $0.url == relay }?.gap
    }

    private mutating func setGap(_ gap: AppState.RelayGap?, at relay: RelayURL) {
        guard let position = self.state.relays.firstIndex(where: { $0.url == relay }) else { return }
        if self.state.relays[position].gap != gap { self.state.relays[position].gap = gap }
    }
}
