import BotKit
import Nostr

/// What is there afterwards, asked on a new connection.
extension RelayExaminer {
    /// Of the group, from the latest on: 10 seconds apart.
    private static let ages: [Int64] = [10, 20]

    /// What the questions of ``readBack()`` and ``lookForExpired()`` are about.
    func writeForQuestions(_ writer: RelayWire) async {
        guard !groupEvents.isEmpty, !budget.isSpent else { return }
        let group = Self.ages.map { sample(.groupEvent, age: $0) }
        let ended = ThrowawayEvent.make(
            .groupEvent, by: author, [Tag("h", visitor.publicKey.hex), .expiration(at: now - 60)], at: now - 120)
        let ending = ThrowawayEvent.make(
            .groupEvent, by: author, [Tag("h", visitor.publicKey.hex), .expiration(at: now + 3)], at: now)
        let all = group + [ended, ending]
        let outcomes = await writer.publish(all, within: budget.limit)
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
        report.isReadBack = answer.ids.contains(first.id)
        switch answer.end {
        case _ where report.isReadBack == true: pass(.readback, since: began, "what was written is there")
        case .closed(let text):
            return fail(
                .readRefused, .readback, .error, since: began, "refuses questions: \(text)",
                RelayRecord.advice(refusal: text))
        case .lost(let reason):
            return fail(
                .connectionLost, .readback, .error, since: began, "ends connections: \(PlainText.of(reason))",
                "ask its operator why")
        case .complete, .enough, .unanswered:
            fail(
                .silentDrop, .readback, .error, since: began,
                "says OK to events and does not have them on a new connection", "use another relay: it loses messages")
            return miss(.silentDrop, "not even a group's message is there")
        }
        await lookForDropped(reader)
        await askWithTimes(reader)
        await askAtOnce(reader)
    }

    /// Asked again after a moment where something is missing: some relays say OK a little before they have it.
    private func look(_ reader: RelayWire, for events: [Event]) async -> StoredAnswer {
        let ids = events.map(\.id)
        let answer = await reader.ask(Filter(ids: ids), expecting: Set(ids), within: budget.limit)
        guard answer.end == .complete, !Set(ids).isSubset(of: answer.ids) else { return answer }
        try? await Task.sleep(for: min(budget.limit, .milliseconds(500)))
        return await reader.ask(Filter(ids: ids), expecting: Set(ids), within: budget.limit)
    }

    private func lookForDropped(_ reader: RelayWire) async {
        let began = ContinuousClock.now
        var missing: [Kind] = []
        // One question each: one kind that is barred, or a small cap, must not hide the others.
        for kind in Self.kinds {
            guard let event = accepted.first(where: { $0.kind == kind }), !budget.isSpent else { continue }
            let answer = await look(reader, for: [event])
            // Gift wraps are for their recipient only, on some relays; a stranger is told so or sees nothing.
            let isBarred = if case .closed = answer.end { true } else { false }
            if !answer.ids.contains(event.id), !(kind == .giftWrap && (isBarred || probe.login != nil)) {
                missing.append(kind)
            }
        }
        guard !missing.isEmpty else { return pass(.silentDrop, since: began, "everything that it took is there") }
        fail(
            .silentDrop, .silentDrop, .error, since: began,
            "says OK to kind \(missing.map(\.description).joined(separator: ", ")) and does not have it afterwards",
            "use another relay: it loses messages")
    }

    // MARK: since, until, limit

    private func askWithTimes(_ reader: RelayWire) async {
        let events = groupEvents.sorted { $0.createdAt > $1.createdAt }
        guard events.count >= 3, endsStored, !budget.isSpent else {
            let why = endsStored ? "too little could be written" : "no end of questions was heard"
            miss(.since, why)
            return miss(.limit, why)
        }
        let filter = Filter(kinds: [.groupEvent], tags: ["h": [group]])
        let all = await reader.ask(filter, expecting: Set(events.map(\.id)), within: answerTime)
        await judgeSince(reader, filter, events, complete: all.events.count >= events.count)
        await judgeLimit(reader, filter, events, most: all.events.count)
    }

    /// Where no end is ever said, the answers are cut off.
    var answerTime: Duration { endsStored ? budget.limit : min(budget.limit, .seconds(1)) }

    private func judgeSince(_ reader: RelayWire, _ base: Filter, _ events: [Event], complete: Bool) async {
        let began = ContinuousClock.now
        let middle = events[1].createdAt
        var (since, until) = (base, base)
        since.since = middle
        until.until = middle
        let later = await reader.ask(since, within: answerTime)
        let earlier = await reader.ask(until, within: answerTime)
        let strangers = later.events.filter { $0.createdAt < middle } + earlier.events.filter { $0.createdAt > middle }
        let isMissing = complete && (!later.ids.contains(events[0].id) || !earlier.ids.contains(events[2].id))
        guard strangers.isEmpty, !isMissing else {
            return fail(
                .sinceIgnored, .since, isMissing ? .error : .warning, since: began,
                isMissing ? "leaves out events that `since` and `until` ask for" : "does not heed `since` and `until`",
                "use another relay: after each break clients get everything again, or not all")
        }
        pass(.since, since: began, "heeds since and until")
    }

    private func judgeLimit(_ reader: RelayWire, _ base: Filter, _ events: [Event], most: Int) async {
        let began = ContinuousClock.now
        var two = base
        two.limit = 2
        let answer = await reader.ask(two, within: answerTime)
        if answer.events.count > 2 {
            return fail(
                .limitIgnored, .limit, .warning, since: began,
                "gives \(answer.events.count) events to those who ask for 2", "use another relay: it wastes bandwidth")
        }
        if most >= events.count, Set(answer.ids) != Set(events.prefix(2).map(\.id)) {
            return fail(
                .limitIgnored, .limit, .warning, since: began, "does not give the latest events to those who ask for 2",
                "use another relay: clients miss the latest")
        }
        guard most >= events.count else {
            return fail(
                .fewEvents, .limit, .warning, since: began, "gives \(most) events at most to one question",
                "use another relay: clients need many questions to catch up")
        }
        pass(.limit, since: began, "heeds limit, and gives the latest")
    }

    // MARK: Several at once

    private func askAtOnce(_ reader: RelayWire) async {
        let began = ContinuousClock.now
        guard endsStored, !budget.isSpent else { return miss(.subscriptions, "no end of questions was heard") }
        var ids: [String] = []
        for _ in 0..<RelayLimits.leastSubscriptions {
            ids.append(await reader.begin([Filter(kinds: [.groupEvent], tags: ["h": [group]])]))
        }
        var refusal: String?
        for id in ids {
            switch await reader.end(of: id, within: budget.limit) {
            case .complete, .enough: break
            case .closed(let text): refusal = text
            case .lost(let text): refusal = text
            case .unanswered: refusal = "no answer"
            }
        }
        for id in ids { await reader.end(id) }
        guard let refusal else { return pass(.subscriptions, since: began, "bears \(ids.count) questions at once") }
        fail(
            .fewSubscriptions, .subscriptions, .warning, since: began,
            "does not bear \(ids.count) questions at once: \(refusal)", "use another relay")
    }

    /// Without anything written there is only to see that nothing comes that was not asked for.
    func readOnly(_ reader: RelayWire) async {
        guard !isDead, !budget.isSpent, report.phase(.subscribe)?.outcome == .passed else { return }
        let began = ContinuousClock.now
        var filter = Filter(kinds: Self.kinds.filter { $0 != .giftWrap })
        filter.limit = 3
        filter.since = now - 86_400
        let answer = await reader.ask(filter, within: answerTime)
        let old = answer.events.count { $0.createdAt < now - 86_400 - 60 }
        if answer.events.count > 3 {
            fail(
                .limitIgnored, .limit, .warning, since: began,
                "gives \(answer.events.count) events to those who ask for 3", "use another relay: it wastes bandwidth")
        } else {
            pass(.limit, since: began, "gave no more than were asked for")
        }
        if old > 0 {
            fail(
                .sinceIgnored, .since, .warning, since: began, "does not heed `since`",
                "use another relay: after each break clients get everything again")
        } else {
            pass(.since, since: began, "gave nothing older than asked for")
        }
    }
}
