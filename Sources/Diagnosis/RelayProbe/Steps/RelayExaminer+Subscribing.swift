import BotKit
import Nostr

/// Checks of queries, live delivery and logins.
extension RelayExaminer {
    /// Opens a subscription and waits for the end of its stored events; returns its id, or nil if it is unusable.
    func subscribe(_ listener: RelayWire) async -> String? {
        let began = ContinuousClock.now
        let filter = Filter(kinds: [.groupEvent], tags: ["h": [group]])
        var id = await listener.begin([filter])
        let deadline = budget.deadline
        var end = await listener.end(of: id, by: deadline)
        if case .closed(let text) = end, MessagePrefix(of: text) == .authenticationRequired,
            await listener.hasLoggedIn(by: deadline)
        {
            id = await listener.begin([filter])
            end = await listener.end(of: id, by: deadline)
        }
        switch end {
        case .complete, .enough: pass(.subscribe, since: began, "sends EOSE after stored events")
        case .closed(let text) where MessagePrefix(of: text) == .authenticationRequired:
            deferToLogin(.subscribe, text)
            return nil
        case .closed(let text):
            fail(
                .readRefused, .subscribe, .error, since: began, "refuses queries: \(text)",
                RelayRecord.advice(refusal: text))
            return nil
        case .lost(let reason):
            fail(
                .connectionLost, .subscribe, .error, since: began, "closes connections: \(PlainText.of(reason))",
                "ask its operator why")
            return nil
        case .unanswered:
            sendsEOSE = false
            guard await isSilent() else {
                if !budget.isSpent { reportMissingEOSE(since: began) }
                return id
            }
            guard probe.writes else {
                reportSilence(since: began)
                return nil
            }
        }
        return id
    }

    func reportMissingEOSE(since began: ContinuousClock.Instant) {
        fail(
            .noEndOfStored, .subscribe, .error, since: began, "sends no EOSE after stored events",
            "use another relay: clients wait for EOSE before they continue")
    }

    func reportSilence(since began: ContinuousClock.Instant) {
        fail(
            .silent, .subscribe, .error, since: began, "accepts connections, but never responds",
            "try again later; if the error persists, use another relay")
    }

    /// Returns whether the relay has sent nothing at all.
    func isSilent() async -> Bool {
        for wire in wires where await wire.tally.messages > 0 { return false }
        return true
    }

    func checkLiveDelivery(_ listener: RelayWire, _ subscription: String?) async {
        let began = ContinuousClock.now
        guard let subscription else { return markUnreached(.live, "no subscription could be opened") }
        guard let event = groupEvents.first else {
            return markUnreached(.live, "no event was accepted")
        }
        let incoming = await listener.received.first(by: budget.deadline) { incoming in
            switch incoming {
            case .message(.event(subscription, event)), .message(.closed(subscription, _)), .ended: true
            default: false
            }
        }
        // Reported as too slow at the end.
        if incoming == nil, budget.isSpent { return }
        guard case .message(.event) = incoming else {
            return fail(
                .noLiveDelivery, .live, .error, since: began,
                "does not deliver new events to open subscriptions",
                "use another relay: clients would have to poll for messages")
        }
        pass(.live, since: began, "delivered at once on another connection")
    }

    func judgeLogin() async {
        for wire in wires where await wire.loginID != nil {
            let outcome = await wire.loginOutcome(by: min(budget.deadline, .now + .seconds(1)))
            if loginOutcome?.isAccepted != true { loginOutcome = outcome }
        }
        let began = ContinuousClock.now
        let who = probe.login == nil ? "an unknown key" : "the account"
        guard let loginOutcome else {
            guard report.wantsLogin else { return pass(.auth, since: began, "requests no authentication") }
            return fail(
                .loginRefused, .auth, .error, since: began,
                "requires authentication, but sends no challenge (NIP-42)",
                "tell its operator")
        }
        report.wantsLogin = true
        guard loginOutcome.isAccepted else {
            let text = if case .refused(let words) = loginOutcome { words } else { "no answer" }
            return fail(
                .loginRefused, .auth, .error, since: began, "requires authentication and refuses \(who): \(text)",
                "ask its operator to admit the account, and probe with the account's key")
        }
        pass(.auth, since: began, "requests authentication (NIP-42) and admits \(who)")
        addFault(
            .authRequired, .auth, .note, "requests authentication (NIP-42) and admits \(who)",
            "make sure that the relay admits the key of every client")
        for (phase, code, what) in [
            (.subscribe, .readRefused, "refuses queries"), (.write, .writeRefused, "refuses events"),
        ] as [(RelayPhase, RelayFault, String)] {
            guard let text = authRefusals[phase] else { continue }
            fail(
                code, phase, .error, since: began, "admits \(who), but still \(what): \(text)",
                "ask its operator for the permissions of such a key")
        }
    }

    /// Attributes a refusal to the login until that is judged.
    func deferToLogin(_ phase: RelayPhase, _ text: String) {
        report.wantsLogin = true
        authRefusals[phase] = text
        markUnreached(phase, "requires authentication: \(text)")
    }

    func judgeConformance() async {
        var tally = WireTally()
        for wire in wires { tally.add(await wire.tally) }
        let began = ContinuousClock.now
        if tally.garbage + tally.invalid > 0 {
            fail(
                .garbage, .manners, .warning, since: began,
                "sends malformed messages (\(tally.garbage)) or invalid events (\(tally.invalid))",
                "tell its operator")
        }
        let isKnown = hasFault(.sinceIgnored)
        if !tally.isWithinLimits || tally.unasked > 0 && !isKnown {
            fail(
                .unasked, .manners, .warning, since: began,
                "sends unrequested events (\(tally.unasked) of \(tally.messages) messages)",
                "use another relay: it wastes bandwidth")
        }
        if !hasFault(.garbage), !hasFault(.unasked) { pass(.manners, since: began, "sends only what was requested") }
    }
}
