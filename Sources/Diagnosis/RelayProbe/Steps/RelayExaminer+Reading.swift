import BotKit
import Nostr

/// Checks of stored events, on a new connection.
extension RelayExaminer {
    /// Ages in seconds of additional group messages, 10 seconds apart.
    private static let ages: [Int64] = [10, 20]

    /// Writes the events that ``readBack()`` and ``lookForExpired()`` query.
    func writeForQuestions(_ writer: RelayWire) async {
        guard !groupEvents.isEmpty, !budget.isSpent else { return }
        let group = Self.ages.map { sample(.groupEvent, age: $0) }
        let ended = ThrowawayEvent.make(
            .groupEvent, by: author, [Tag("h", visitor.publicKey.hex), .expiration(at: now - 60)], at: now - 120)
        let ending = ThrowawayEvent.make(
            .groupEvent, by: author, [Tag("h", visitor.publicKey.hex), .expiration(at: now + 3)], at: now)
        let all = group + [ended, ending]
        let outcomes = await writer.publish(all, by: budget.deadline)
        for (event, (outcome, _)) in zip(all, outcomes) {
            if case .refused(let text) = outcome, outcome.isRefused(.rateLimited) { noteHaste(.warning, text) }
            if outcome.isAccepted { accepted.append(event) }
        }
    }

    var groupEvents: [Event] {
        accepted.filter { $0.kind == .groupEvent && $0.firstTag("h")?.value == group }
    }

    func readBack() async {
        let began = ContinuousClock.now
        guard let first = groupEvents.first else { return miss(.readback, "nothing was taken") }
        guard let reader = await another(.readback) else { return }
        let answer = await look(reader, for: [first])
        let isThere = answer.ids.contains(first.id)
        guard isThere || isWhole(answer) else { return blame(answer.end, .readback, since: began) }
        report.isReadBack = isThere
        guard isThere else {
            fail(
                .silentDrop, .readback, .error, since: began,
                "says OK to events and does not have them on a new connection", "use another relay: it loses messages")
            return miss(.silentDrop, "not even a group's message is there")
        }
        pass(.readback, since: began, "what was written is there")
        guard await lookForDropped(reader), await askWithTimes(reader) else { return }
        await askAtOnce(reader)
    }

    // MARK: Ends of answers

    /// Returns whether an event that the answer lacks is missing at the relay.
    func isWhole(_ answer: StoredAnswer) -> Bool {
        switch answer.end {
        case .complete, .enough: true
        // The relay sends no EOSE, and had its time for this answer.
        case .unanswered: !endsStored && !budget.isSpent
        case .closed, .lost: false
        }
    }

    /// Reports an incomplete answer that groups depend on.
    private func blame(_ end: StoredAnswer.End, _ phase: RelayPhase, since began: ContinuousClock.Instant) {
        switch end {
        case .closed(let text):
            fail(
                .readRefused, phase, .error, since: began, "refuses questions: \(text)",
                RelayRecord.advice(refusal: text))
        case .lost(let reason):
            fail(
                .connectionLost, phase, .error, since: began, "ends connections: \(PlainText.of(reason))",
                "ask its operator why")
        case .complete, .enough, .unanswered:
            // Only for messages is a missing answer a fault; for other queries nothing follows from it.
            guard phase == .readback else { return missAnswer(phase, end) }
            fail(
                .tooSlow, phase, .error, since: began, "is too slow: a question had no answer in time",
                "give the probe more time, or use another relay")
        }
    }

    /// Reports an incomplete answer that groups do not depend on.
    func missAnswer(_ phase: RelayPhase, _ end: StoredAnswer.End) {
        switch end {
        case .closed(let text): miss(phase, "refuses the question: \(text)")
        case .lost(let reason): miss(phase, "ends the connection: \(PlainText.of(reason))")
        case .complete, .enough, .unanswered: miss(phase, "a question had no answer in time")
        }
    }

    /// Queries events, and again after a moment if some are missing: some relays send OK before they have stored the
    /// event.
    private func look(_ reader: RelayWire, for events: [Event]) async -> StoredAnswer {
        let ids = events.map(\.id)
        let answer = await reader.ask(Filter(ids: ids), expecting: Set(ids), by: budget.deadline)
        guard answer.end == .complete, !Set(ids).isSubset(of: answer.ids) else { return answer }
        try? await Task.sleep(for: min(budget.limit, .milliseconds(500)))
        return await reader.ask(Filter(ids: ids), expecting: Set(ids), by: budget.deadline)
    }

    /// Returns whether further queries make sense.
    private func lookForDropped(_ reader: RelayWire) async -> Bool {
        let began = ContinuousClock.now
        var missing: [Kind] = []
        var broken: StoredAnswer.End?
        // One query per kind: a refused kind or a small cap must not hide the others.
        for kind in Self.kinds {
            guard let event = accepted.first(where: { $0.kind == kind }), broken == nil else { continue }
            let answer = await look(reader, for: [event])
            guard !answer.ids.contains(event.id) else { continue }
            // Some relays serve gift wraps to their recipient only, and refuse or hide them otherwise.
            let isBarred = if case .closed = answer.end { true } else { probe.login != nil && isWhole(answer) }
            if kind == .giftWrap, isBarred { continue }
            if isWhole(answer) { missing.append(kind) } else { broken = answer.end }
        }
        if !missing.isEmpty {
            fail(
                .silentDrop, .silentDrop, .error, since: began,
                "says OK to kind \(missing.map(\.description).joined(separator: ", ")) and does not have it afterwards",
                "use another relay: it loses messages")
        } else if let broken {
            blame(broken, .silentDrop, since: began)
        } else {
            pass(.silentDrop, since: began, "everything that it took is there")
        }
        return broken == nil
    }

    // MARK: since, until, limit

    /// Returns whether further queries make sense.
    private func askWithTimes(_ reader: RelayWire) async -> Bool {
        let events = groupEvents.sorted { $0.createdAt > $1.createdAt }
        guard events.count >= 3, endsStored, !budget.isSpent else {
            let why = endsStored ? "too little could be written" : "no end of questions was heard"
            miss(.since, why)
            miss(.limit, why)
            return true
        }
        let began = ContinuousClock.now
        let filter = Filter(kinds: [.groupEvent], tags: ["h": [group]])
        let all = await reader.ask(filter, expecting: Set(events.map(\.id)), by: answerDeadline)
        guard isWhole(all) else {
            blame(all.end, .since, since: began)
            return false
        }
        guard await judgeSince(reader, filter, events, complete: all.events.count >= events.count) else { return false }
        return await judgeLimit(reader, filter, events, most: all.events.count)
    }

    /// Deadline of an answer; shorter for a relay that sends no EOSE.
    var answerDeadline: ContinuousClock.Instant {
        endsStored ? budget.deadline : min(budget.deadline, .now + .seconds(1))
    }

    /// Returns whether further queries make sense.
    private func judgeSince(_ reader: RelayWire, _ base: Filter, _ events: [Event], complete: Bool) async -> Bool {
        let began = ContinuousClock.now
        let middle = events[1].createdAt
        var (since, until) = (base, base)
        since.since = middle
        until.until = middle
        let later = await reader.ask(since, by: answerDeadline)
        let earlier = await reader.ask(until, by: answerDeadline)
        let strangers = later.events.filter { $0.createdAt < middle } + earlier.events.filter { $0.createdAt > middle }
        let broken = [later, earlier].first { !isWhole($0) }
        let isMissing =
            complete && broken == nil && (!later.ids.contains(events[0].id) || !earlier.ids.contains(events[2].id))
        if !strangers.isEmpty || isMissing {
            fail(
                .sinceIgnored, .since, isMissing ? .error : .warning, since: began,
                isMissing ? "leaves out events that `since` and `until` ask for" : "does not heed `since` and `until`",
                "use another relay: after each break clients get everything again, or not all")
        } else if let broken {
            blame(broken.end, .since, since: began)
        } else {
            pass(.since, since: began, "heeds since and until")
        }
        return broken == nil
    }

    /// Returns whether further queries make sense.
    private func judgeLimit(_ reader: RelayWire, _ base: Filter, _ events: [Event], most: Int) async -> Bool {
        let began = ContinuousClock.now
        var two = base
        two.limit = 2
        let answer = await reader.ask(two, by: answerDeadline)
        if answer.events.count > 2 {
            fail(
                .limitIgnored, .limit, .warning, since: began,
                "gives \(answer.events.count) events to those who ask for 2", "use another relay: it wastes bandwidth")
        } else if !isWhole(answer) {
            blame(answer.end, .limit, since: began)
        } else if most < events.count {
            fail(
                .fewEvents, .limit, .warning, since: began, "gives \(most) events at most to one question",
                "use another relay: clients need many questions to catch up")
        } else if Set(answer.ids) != Set(events.prefix(2).map(\.id)) {
            fail(
                .limitIgnored, .limit, .warning, since: began, "does not give the latest events to those who ask for 2",
                "use another relay: clients miss the latest")
        } else {
            pass(.limit, since: began, "heeds limit, and gives the latest")
        }
        return isWhole(answer)
    }

    // MARK: Concurrent queries

    private func askAtOnce(_ reader: RelayWire) async {
        let began = ContinuousClock.now
        guard endsStored, !budget.isSpent else { return miss(.subscriptions, "no end of questions was heard") }
        var ids: [String] = []
        for _ in 0..<RelayLimits.leastSubscriptions {
            ids.append(await reader.begin([Filter(kinds: [.groupEvent], tags: ["h": [group]])]))
        }
        var refusal: String?
        let deadline = budget.deadline
        for id in ids {
            switch await reader.end(of: id, by: deadline) {
            case .complete, .enough: break
            case .closed(let text): refusal = text
            case .lost(let text): refusal = text
            case .unanswered where budget.isSpent: return miss(.subscriptions, "no time was left")
            case .unanswered: refusal = "no answer"
            }
        }
        for id in ids { await reader.end(id) }
        guard let refusal else { return pass(.subscriptions, since: began, "bears \(ids.count) questions at once") }
        fail(
            .fewSubscriptions, .subscriptions, .warning, since: began,
            "does not bear \(ids.count) questions at once: \(refusal)", "use another relay")
    }

    /// Without written events, checks only that no unrequested events arrive.
    func readOnly(_ reader: RelayWire) async {
        guard !isDead, !budget.isSpent, report.phase(.subscribe)?.outcome == .passed else { return }
        let began = ContinuousClock.now
        var filter = Filter(kinds: Self.kinds.filter { $0 != .giftWrap })
        filter.limit = 3
        filter.since = now - 86_400
        let answer = await reader.ask(filter, by: answerDeadline)
        let old = answer.events.count { $0.createdAt < now - 86_400 - 60 }
        if answer.events.count > 3 {
            fail(
                .limitIgnored, .limit, .warning, since: began,
                "gives \(answer.events.count) events to those who ask for 3", "use another relay: it wastes bandwidth")
        } else if !isWhole(answer) {
            missAnswer(.limit, answer.end)
        } else {
            pass(.limit, since: began, "gave no more than were asked for")
        }
        if old > 0 {
            fail(
                .sinceIgnored, .since, .warning, since: began, "does not heed `since`",
                "use another relay: after each break clients get everything again")
        } else if !isWhole(answer) {
            missAnswer(.since, answer.end)
        } else {
            pass(.since, since: began, "gave nothing older than asked for")
        }
    }
}
