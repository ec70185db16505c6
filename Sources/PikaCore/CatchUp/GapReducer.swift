import Nostr

/// Shows gaps in connectivity (``RelayGaps``).
extension CoreModel {
    mutating func noteFailedRead(of relay: RelayURL, _ step: inout CoreStep) {
        let gap = self.catchUp.gaps.afterFailedRead(of: relay, self.gap(at: relay), now: step.now)
        if let gap { self.setGap(gap, at: relay) }
    }

    mutating func noteRead(of relay: RelayURL, _ ids: [EventID], _ step: inout CoreStep) {
        let undecided = Set(ids.filter { !self.inbound.seen.contains($0) && !self.inbound.waiting.contains($0) })
        let gap = self.catchUp.noteRead(of: relay, undecided: undecided, self.gap(at: relay), now: step.now)
        if let gap { self.setGap(gap, at: relay) }
    }

    /// Recounts the processed events; called when a read ends, and when waiting events were retried.
    mutating func recountGaps(_ step: inout CoreStep) {
        guard !self.catchUp.gaps.isComplete else { return }
        let (relays, seen) = (self.state.relays, self.inbound.seen)
        let recounted = self.catchUp.recountGaps(
            shown: { relay in relays.first { $0.url == relay }?.gap }, isSeen: seen.contains, &step)
        for (relay, gap) in recounted { self.setGap(gap, at: relay) }
    }

    private func gap(at relay: RelayURL) -> AppState.RelayGap? {
        self.state.relays.first { $0.url == relay }?.gap
    }

    mutating func setGap(_ gap: AppState.RelayGap?, at relay: RelayURL) {
        guard let position = self.state.relays.firstIndex(where: { $0.url == relay }) else { return }
        if self.state.relays[position].gap != gap { self.state.relays[position].gap = gap }
    }
}
