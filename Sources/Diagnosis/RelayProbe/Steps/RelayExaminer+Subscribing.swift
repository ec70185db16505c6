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
        case .complete, .enough: pass(.subscribe, since: began, "ends what it has stored with EOSE")
        case .closed(let text) where MessagePrefix(of: text) == .authenticationRequired:
            needLogin(.subscribe, text)
            return nil
        case .closed(let text):
            fail(
                .readRefused, .subscribe, .error, since: began, "refuses questions: \(text)",
                RelayRecord.advice(refusal: text))
            return nil
        case .lost(let reason):
            fail(
                .connectionLost, .subscribe, .error, since: began, "ends connections: \(PlainText.of(reason))",
                "ask its operator why")
            return nil
        case .unanswered:
            endsStored = false
            guard await isSilent() else {
                if !budget.isSpent { missEnd(since: began) }
                return id
            }
            guard probe.writes else {
                beSilent(since: began)
                return nil
            }
        }
        return id
    }

    func missEnd(since began: ContinuousClock.Instant) {
        fail(
            .noEndOfStored, .subscribe, .error, since: began, "does not say where stored events end (EOSE)",
            "use another relay: clients wait for that before they go on")
    }

    func beSilent(since began: ContinuousClock.Instant) {
        fail(
            .silent, .subscribe, .error, since: began, "takes connections and answers nothing",
            "try again later; if it stays so use another relay")
    }

    /// Returns whether the relay has sent nothing at all.
    func isSilent() async -> Bool {
        for wire in wires where await wire.manners.messages > 0 { return false }
        return true
    }

    func hearLive(_ listener: RelayWire, _ subscription: String?) async {
        let began = ContinuousClock.now
        guard let subscription else { return miss(.live, "nothing could be subscribed to") }
        guard let event = groupEvents.first else {
            return miss(.live, "nothing could be written")
        }
        let news = await listener.heard.first(by: budget.deadline) { news in
            switch news {
            case .message(.event(subscription, event)), .message(.closed(subscription, _)), .ended: true
            default: false
            }
        }
        // Reported as too slow at the end.
        if news == nil, budget.isSpent { return }
        guard case .message(.event) = news else {
            return fail(
                .noLiveDelivery, .live, .error, since: began,
                "does not pass new events on to those who are subscribed",
                "use another relay: messages come only to those who ask again")
        }
        pass(.live, since: began, "a second connection got it at once")
    }

    func judgeLogin() async {
        for wire in wires where await wire.loginID != nil {
            let outcome = await wire.loginOutcome(by: min(budget.deadline, .now + .seconds(1)))
            if loginOutcome?.isAccepted != true { loginOutcome = outcome }
        }
        let began = ContinuousClock.now
        let who = probe.login == nil ? "a stranger's key" : "the account"
        guard let loginOutcome else {
            guard report.wantsLogin else { return pass(.auth, since: began, "asks for no login") }
            return fail(
                .loginRefused, .auth, .error, since: began,
                "wants clients to log in and gives them no challenge (NIP-42)",
                "tell its operator")
        }
        report.wantsLogin = true
        guard loginOutcome.isAccepted else {
            let text = if case .refused(let words) = loginOutcome { words } else { "no answer" }
            return fail(
                .loginRefused, .auth, .error, since: began, "wants clients to log in and refuses \(who): \(text)",
                "ask its operator to let the account in, and probe with the account's key")
        }
        pass(.auth, since: began, "asks for a login (NIP-42), and lets \(who) in")
        blame(
            .authRequired, .auth, .note, "asks clients to log in (NIP-42), and lets \(who) in",
            "see that every client has a key that the relay knows")
        for (phase, code, what) in [
            (.subscribe, .readRefused, "answers no questions"), (.write, .writeRefused, "takes no events"),
        ] as [(RelayPhase, RelayFault, String)] {
            guard let text = barred[phase] else { continue }
            fail(
                code, phase, .error, since: began, "lets \(who) in and \(what) even then: \(text)",
                "ask its operator what such a key may do")
        }
    }

    /// Attributes a refusal to the login until that is judged.
    func needLogin(_ phase: RelayPhase, _ text: String) {
        report.wantsLogin = true
        barred[phase] = text
        miss(phase, "needs a login: \(text)")
    }

    func judgeManners() async {
        var manners = WireManners()
        for wire in wires { manners.add(await wire.manners) }
        let began = ContinuousClock.now
        if manners.garbage + manners.invalid > 0 {
            fail(
                .garbage, .manners, .warning, since: began,
                "sends what is no message of a relay (\(manners.garbage)) or no true event (\(manners.invalid))",
                "tell its operator")
        }
        let isKnown = has(.sinceIgnored)
        if !manners.isBearable || manners.unasked > 0 && !isKnown {
            fail(
                .unasked, .manners, .warning, since: began,
                "sends events that nobody asked for (\(manners.unasked) of \(manners.messages) messages)",
                "use another relay: whoever asks it pays for that")
        }
        if !has(.garbage), !has(.unasked) { pass(.manners, since: began, "sent nothing but answers") }
    }
}
