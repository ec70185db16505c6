import Nostr
import ProbeReports

/// Checks of a query and of live delivery, on one connection.
struct SubscriptionCheck {
    let listener: RelayWire

    /// Opens a subscription and waits for the end of its stored events; returns its id, or nil if it is unusable.
    func open(_ run: inout ProbeRun) async -> String? {
        let began = ContinuousClock.now
        let filter = Filter(kinds: [.groupEvent], tags: ["h": [run.events.group]])
        let (id, end) = await listener.subscribe(filter, by: run.budget.deadline)
        switch end {
        case .complete, .enough: run.phases.pass(.subscribe, since: began, "sends EOSE after stored events")
        case .closed(let text) where MessagePrefix(of: text) == .authenticationRequired:
            run.login.postpone(.subscribe, text, in: &run.phases)
            return nil
        case .closed(let text):
            run.phases.fail(
                .readRefused, .subscribe, .error, since: began, "refuses queries: \(text)",
                RelayRecord.advice(refusal: text))
            return nil
        case .lost(let reason):
            run.phases.fail(
                .connectionLost, .subscribe, .error, since: began, "closes connections: \(PlainText.of(reason))",
                "ask its operator why")
            return nil
        case .unanswered:
            run.recordMissingEOSE()
            guard await run.connections.isSilent() else {
                if !run.budget.isSpent { run.phases.reportMissingEOSE(since: began) }
                return id
            }
            guard run.probe.writes else {
                run.phases.reportSilence(since: began)
                return nil
            }
        }
        return id
    }

    func checkLiveDelivery(_ run: inout ProbeRun, to subscription: String?) async {
        let began = ContinuousClock.now
        guard let subscription else { return run.phases.markUnreached(.live, "no subscription could be opened") }
        guard let event = run.events.groupEvents.first else {
            return run.phases.markUnreached(.live, "no event was accepted")
        }
        let incoming = await listener.received.first(by: run.budget.deadline) { incoming in
            switch incoming {
            case .message(.event(subscription, event)), .message(.closed(subscription, _)), .ended: true
            default: false
            }
        }
        // Reported as too slow at the end.
        if incoming == nil, run.budget.isSpent { return }
        guard case .message(.event) = incoming else {
            return run.phases.fail(
                .noLiveDelivery, .live, .error, since: began,
                "does not deliver new events to open subscriptions",
                "use another relay: clients would have to poll for messages")
        }
        run.phases.pass(.live, since: began, "delivered at once on another connection")
    }
}

extension RelayPhases {
    mutating func reportMissingEOSE(since began: ContinuousClock.Instant) {
        fail(
            .noEndOfStored, .subscribe, .error, since: began, "sends no EOSE after stored events",
            "use another relay: clients wait for EOSE before they continue")
    }

    mutating func reportSilence(since began: ContinuousClock.Instant) {
        fail(
            .silent, .subscribe, .error, since: began, "accepts connections, but never responds",
            "try again later; if the error persists, use another relay")
    }
}
