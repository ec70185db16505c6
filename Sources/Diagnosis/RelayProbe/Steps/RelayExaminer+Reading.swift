import BotKit
import Nostr

/// Checks of stored events, on a new connection.
extension RelayExaminer {
    /// Ages in seconds of additional group messages, 10 seconds apart.
    private static let ages: [Int64] = [10, 20]

    /// Writes the events that ``checkReadback()`` and ``checkExpiration()`` query.
    func writeQuerySamples(_ writer: RelayWire) async {
        guard !groupEvents.isEmpty, !budget.isSpent else { return }
        let group = Self.ages.map { sample(.groupEvent, age: $0) }
        let ended = ThrowawayEvent.make(
            .groupEvent, by: author, [Tag("h", visitor.publicKey.hex), .expiration(at: now - 60)], at: now - 120)
        let ending = ThrowawayEvent.make(
            .groupEvent, by: author, [Tag("h", visitor.publicKey.hex), .expiration(at: now + 3)], at: now)
        let all = group + [ended, ending]
        let outcomes = await writer.publish(all, by: budget.deadline)
        for (event, (outcome, _)) in zip(all, outcomes) {
            if case .refused(let text) = outcome, outcome.isRefused(.rateLimited) { noteRateLimit(.warning, text) }
            if outcome.isAccepted { accepted.append(event) }
        }
    }

    var groupEvents: [Event] {
        accepted.filter { $0.kind == .groupEvent && $0.firstTag("h")?.value == group }
    }

    func checkReadback() async {
        let began = ContinuousClock.now
        guard let first = groupEvents.first else { return markUnreached(.readback, "no event was accepted") }
        guard let reader = await openConnection(for: .readback) else { return }
        let answer = await query(reader, for: [first])
        let isThere = answer.ids.contains(first.id)
        guard isThere || isConclusive(answer) else { return reportIncomplete(answer.end, .readback, since: began) }
        report.isReadBack = isThere
        guard isThere else {
            fail(
                .silentDrop, .readback, .error, since: began,
                "acknowledges events, but does not return them on a new connection",
                "use another relay: it loses messages")
            return markUnreached(.silentDrop, "not even group messages are returned")
        }
        pass(.readback, since: began, "returns written events")
        guard await checkSilentDrops(reader), await checkFilters(reader) else { return }
        await checkConcurrentQueries(reader)
    }

    // MARK: Ends of answers

    /// Returns whether an event that the answer lacks is missing at the relay.
    func isConclusive(_ answer: QueryResult) -> Bool {
        switch answer.end {
        case .complete, .enough: true
        // The relay sends no EOSE, and the deadline of this answer has passed.
        case .unanswered: !sendsEOSE && !budget.isSpent
        case .closed, .lost: false
        }
    }

    /// Reports an incomplete answer that groups depend on.
    private func reportIncomplete(_ end: QueryResult.End, _ phase: RelayPhase, since began: ContinuousClock.Instant) {
        switch end {
        case .closed(let text):
            fail(
                .readRefused, phase, .error, since: began, "refuses queries: \(text)",
                RelayRecord.advice(refusal: text))
        case .lost(let reason):
            fail(
                .connectionLost, phase, .error, since: began, "closes connections: \(PlainText.of(reason))",
                "ask its operator why")
        case .complete, .enough, .unanswered:
            // A missing answer is a fault for messages only; for other queries it proves nothing.
            guard phase == .readback else { return markInconclusive(phase, end) }
            fail(
                .tooSlow, phase, .error, since: began, "is too slow: a query timed out",
                "increase the probe's timeout, or use another relay")
        }
    }

    /// Reports an incomplete answer that groups do not depend on.
    func markInconclusive(_ phase: RelayPhase, _ end: QueryResult.End) {
        switch end {
        case .closed(let text): markUnreached(phase, "refuses the query: \(text)")
        case .lost(let reason): markUnreached(phase, "closes the connection: \(PlainText.of(reason))")
        case .complete, .enough, .unanswered: markUnreached(phase, "a query timed out")
        }
    }

    /// Queries events, and again after a moment if some are missing: some relays send OK before they have stored the
    /// event.
    private func query(_ reader: RelayWire, for events: [Event]) async -> QueryResult {
        let ids = events.map(\.id)
        let answer = await reader.query(Filter(ids: ids), expecting: Set(ids), by: budget.deadline)
        guard answer.end == .complete, !Set(ids).isSubset(of: answer.ids) else { return answer }
        try? await Task.sleep(for: min(budget.limit, .milliseconds(500)))
        return await reader.query(Filter(ids: ids), expecting: Set(ids), by: budget.deadline)
    }

    /// Returns whether further queries make sense.
    private func checkSilentDrops(_ reader: RelayWire) async -> Bool {
        let began = ContinuousClock.now
        var missing: [Kind] = []
        var broken: QueryResult.End?
        // One query per kind: a refused kind or a small cap must not hide the others.
        for kind in Self.kinds {
            guard let event = accepted.first(where: { $0.kind == kind }), broken == nil else { continue }
            let answer = await query(reader, for: [event])
            guard !answer.ids.contains(event.id) else { continue }
            // Some relays serve gift wraps to their recipient only, and refuse or hide them otherwise.
            let isBarred = if case .closed = answer.end { true } else { probe.login != nil && isConclusive(answer) }
            if kind == .giftWrap, isBarred { continue }
            if isConclusive(answer) { missing.append(kind) } else { broken = answer.end }
        }
        if !missing.isEmpty {
            fail(
                .silentDrop, .silentDrop, .error, since: began,
                "acknowledges kind \(missing.map(\.description).joined(separator: ", ")), but does not return it",
                "use another relay: it loses messages")
        } else if let broken {
            reportIncomplete(broken, .silentDrop, since: began)
        } else {
            pass(.silentDrop, since: began, "returns all accepted events")
        }
        return broken == nil
    }

    // MARK: since, until, limit

    /// Returns whether further queries make sense.
    private func checkFilters(_ reader: RelayWire) async -> Bool {
        let events = groupEvents.sorted { $0.createdAt > $1.createdAt }
        guard events.count >= 3, sendsEOSE, !budget.isSpent else {
            let why = sendsEOSE ? "too few events were accepted" : "the relay sends no EOSE"
            markUnreached(.since, why)
            markUnreached(.limit, why)
            return true
        }
        let began = ContinuousClock.now
        let filter = Filter(kinds: [.groupEvent], tags: ["h": [group]])
        let all = await reader.query(filter, expecting: Set(events.map(\.id)), by: answerDeadline)
        guard isConclusive(all) else {
            reportIncomplete(all.end, .since, since: began)
            return false
        }
        guard await judgeSince(reader, filter, events, complete: all.events.count >= events.count) else { return false }
        return await judgeLimit(reader, filter, events, most: all.events.count)
    }

    /// Deadline of an answer; shorter for a relay that sends no EOSE.
    var answerDeadline: ContinuousClock.Instant {
        sendsEOSE ? budget.deadline : min(budget.deadline, .now + .seconds(1))
    }

    /// Returns whether further queries make sense.
    private func judgeSince(_ reader: RelayWire, _ base: Filter, _ events: [Event], complete: Bool) async -> Bool {
        let began = ContinuousClock.now
        let middle = events[1].createdAt
        var (since, until) = (base, base)
        since.since = middle
        until.until = middle
        let later = await reader.query(since, by: answerDeadline)
        let earlier = await reader.query(until, by: answerDeadline)
        let strangers = later.events.filter { $0.createdAt < middle } + earlier.events.filter { $0.createdAt > middle }
        let broken = [later, earlier].first { !isConclusive($0) }
        let isMissing =
            complete && broken == nil && (!later.ids.contains(events[0].id) || !earlier.ids.contains(events[2].id))
        if !strangers.isEmpty || isMissing {
            fail(
                .sinceIgnored, .since, isMissing ? .error : .warning, since: began,
                isMissing ? "omits events that match `since` and `until`" : "ignores `since` and `until`",
                "use another relay: after a reconnect clients get old events again, or miss some")
        } else if let broken {
            reportIncomplete(broken.end, .since, since: began)
        } else {
            pass(.since, since: began, "honours since and until")
        }
        return broken == nil
    }

    /// Returns whether further queries make sense.
    private func judgeLimit(_ reader: RelayWire, _ base: Filter, _ events: [Event], most: Int) async -> Bool {
        let began = ContinuousClock.now
        var two = base
        two.limit = 2
        let answer = await reader.query(two, by: answerDeadline)
        if answer.events.count > 2 {
            fail(
                .limitIgnored, .limit, .warning, since: began,
                "returns \(answer.events.count) events for a limit of 2", "use another relay: it wastes bandwidth")
        } else if !isConclusive(answer) {
            reportIncomplete(answer.end, .limit, since: began)
        } else if most < events.count {
            fail(
                .fewEvents, .limit, .warning, since: began, "returns at most \(most) events per query",
                "use another relay: clients need many queries to catch up")
        } else if Set(answer.ids) != Set(events.prefix(2).map(\.id)) {
            fail(
                .limitIgnored, .limit, .warning, since: began, "does not return the latest events for a limit of 2",
                "use another relay: clients miss the latest events")
        } else {
            pass(.limit, since: began, "honours limit and returns the latest events")
        }
        return isConclusive(answer)
    }

    // MARK: Concurrent queries

    private func checkConcurrentQueries(_ reader: RelayWire) async {
        let began = ContinuousClock.now
        guard sendsEOSE, !budget.isSpent else { return markUnreached(.subscriptions, "the relay sends no EOSE") }
        var ids: [String] = []
        for _ in 0..<RelayRequirements.leastSubscriptions {
            ids.append(await reader.begin([Filter(kinds: [.groupEvent], tags: ["h": [group]])]))
        }
        var refusal: String?
        let deadline = budget.deadline
        for id in ids {
            switch await reader.end(of: id, by: deadline) {
            case .complete, .enough: break
            case .closed(let text): refusal = text
            case .lost(let text): refusal = text
            case .unanswered where budget.isSpent: return markUnreached(.subscriptions, "no time left")
            case .unanswered: refusal = "no answer"
            }
        }
        for id in ids { await reader.end(id) }
        guard let refusal else { return pass(.subscriptions, since: began, "serves \(ids.count) concurrent queries") }
        fail(
            .fewSubscriptions, .subscriptions, .warning, since: began,
            "refuses \(ids.count) concurrent queries: \(refusal)", "use another relay")
    }

    /// Without written events, checks only that no unrequested events arrive.
    func checkReadOnly(_ reader: RelayWire) async {
        guard !isDead, !budget.isSpent, report.phase(.subscribe)?.outcome == .passed else { return }
        let began = ContinuousClock.now
        var filter = Filter(kinds: Self.kinds.filter { $0 != .giftWrap })
        filter.limit = 3
        filter.since = now - 86_400
        let answer = await reader.query(filter, by: answerDeadline)
        let old = answer.events.count { $0.createdAt < now - 86_400 - 60 }
        if answer.events.count > 3 {
            fail(
                .limitIgnored, .limit, .warning, since: began,
                "returns \(answer.events.count) events for a limit of 3", "use another relay: it wastes bandwidth")
        } else if !isConclusive(answer) {
            markInconclusive(.limit, answer.end)
        } else {
            pass(.limit, since: began, "honours limit")
        }
        if old > 0 {
            fail(
                .sinceIgnored, .since, .warning, since: began, "ignores `since`",
                "use another relay: after a reconnect clients get old events again")
        } else if !isConclusive(answer) {
            markInconclusive(.since, answer.end)
        } else {
            pass(.since, since: began, "honours since")
        }
    }
}
