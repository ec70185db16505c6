import Nostr
import ProbeReports

/// Checks of the filters `since`, `until` and `limit`, and of concurrent queries, on one connection.
struct FilterChecks {
    let reader: RelayWire

    /// Returns whether further queries make sense.
    func examine(_ run: inout ProbeRun) async -> Bool {
        let events = run.events.groupEvents.sorted { $0.createdAt > $1.createdAt }
        guard events.count >= 3, run.sendsEOSE, !run.budget.isSpent else {
            let why = run.sendsEOSE ? "too few events were accepted" : "the relay sends no EOSE"
            run.phases.markUnreached(.since, why)
            run.phases.markUnreached(.limit, why)
            return true
        }
        let began = ContinuousClock.now
        let filter = Filter(kinds: [.groupEvent], tags: ["h": [run.events.group]])
        let all = await reader.query(filter, expecting: Set(events.map(\.id)), by: run.answerDeadline)
        guard run.isConclusive(all) else {
            run.phases.reportIncomplete(all.end, .since, since: began)
            return false
        }
        guard await judgeSince(&run, filter, events, complete: all.events.count >= events.count) else { return false }
        return await judgeLimit(&run, filter, events, returned: all.events.count)
    }

    /// Returns whether further queries make sense.
    private func judgeSince(_ run: inout ProbeRun, _ base: Filter, _ events: [Event], complete: Bool) async -> Bool {
        let began = ContinuousClock.now
        let middle = events[1].createdAt
        var (since, until) = (base, base)
        since.since = middle
        until.until = middle
        let later = await reader.query(since, by: run.answerDeadline)
        let earlier = await reader.query(until, by: run.answerDeadline)
        let strangers = later.events.filter { $0.createdAt < middle } + earlier.events.filter { $0.createdAt > middle }
        let broken = [later, earlier].first { !run.isConclusive($0) }
        let isMissing =
            complete && broken == nil && (!later.ids.contains(events[0].id) || !earlier.ids.contains(events[2].id))
        if !strangers.isEmpty || isMissing {
            run.phases.fail(
                .sinceIgnored, .since, isMissing ? .error : .warning, since: began,
                isMissing ? "omits events that match `since` and `until`" : "ignores `since` and `until`",
                "use another relay: after a reconnect clients get old events again, or miss some")
        } else if let broken {
            run.phases.reportIncomplete(broken.end, .since, since: began)
        } else {
            run.phases.pass(.since, since: began, "honours since and until")
        }
        return broken == nil
    }

    /// Returns whether further queries make sense.
    ///
    /// - Parameter returned: Number of events returned without a limit.
    private func judgeLimit(_ run: inout ProbeRun, _ base: Filter, _ events: [Event], returned: Int) async -> Bool {
        let began = ContinuousClock.now
        var two = base
        two.limit = 2
        let answer = await reader.query(two, by: run.answerDeadline)
        if answer.events.count > 2 {
            run.phases.fail(
                .limitIgnored, .limit, .warning, since: began,
                "returns \(answer.events.count) events for a limit of 2", "use another relay: it wastes bandwidth")
        } else if !run.isConclusive(answer) {
            run.phases.reportIncomplete(answer.end, .limit, since: began)
        } else if returned < events.count {
            run.phases.fail(
                .fewEvents, .limit, .warning, since: began, "returns at most \(returned) events per query",
                "use another relay: clients need many queries to catch up")
        } else if Set(answer.ids) != Set(events.prefix(2).map(\.id)) {
            run.phases.fail(
                .limitIgnored, .limit, .warning, since: began, "does not return the latest events for a limit of 2",
                "use another relay: clients miss the latest events")
        } else {
            run.phases.pass(.limit, since: began, "honours limit and returns the latest events")
        }
        return run.isConclusive(answer)
    }

    // MARK: Concurrent queries

    func checkConcurrentQueries(_ run: inout ProbeRun) async {
        let began = ContinuousClock.now
        guard run.sendsEOSE, !run.budget.isSpent else {
            return run.phases.markUnreached(.subscriptions, "the relay sends no EOSE")
        }
        var ids: [String] = []
        for _ in 0..<RelayRequirements.leastSubscriptions {
            ids.append(await reader.begin([Filter(kinds: [.groupEvent], tags: ["h": [run.events.group]])]))
        }
        var refusal: String?
        let deadline = run.budget.deadline
        for id in ids {
            switch await reader.end(of: id, by: deadline) {
            case .complete, .enough: break
            case .closed(let text): refusal = text
            case .lost(let text): refusal = text
            case .unanswered where run.budget.isSpent: return run.phases.markUnreached(.subscriptions, "no time left")
            case .unanswered: refusal = "no answer"
            }
        }
        for id in ids { await reader.end(id) }
        guard let refusal else {
            return run.phases.pass(.subscriptions, since: began, "serves \(ids.count) concurrent queries")
        }
        run.phases.fail(
            .fewSubscriptions, .subscriptions, .warning, since: began,
            "refuses \(ids.count) concurrent queries: \(refusal)", "use another relay")
    }

    // MARK: Without written events

    /// Without written events, checks only that no unrequested events arrive.
    func checkReadOnly(_ run: inout ProbeRun) async {
        guard !run.phases.isDead, !run.budget.isSpent, run.phases.hasPassed(.subscribe) else { return }
        let began = ContinuousClock.now
        var filter = Filter(kinds: ProbeEvents.kinds.filter { $0 != .giftWrap })
        filter.limit = 3
        filter.since = run.events.now - 86_400
        let answer = await reader.query(filter, by: run.answerDeadline)
        let old = answer.events.count { $0.createdAt < run.events.now - 86_400 - 60 }
        if answer.events.count > 3 {
            run.phases.fail(
                .limitIgnored, .limit, .warning, since: began,
                "returns \(answer.events.count) events for a limit of 3", "use another relay: it wastes bandwidth")
        } else if !run.isConclusive(answer) {
            run.phases.markInconclusive(.limit, answer.end)
        } else {
            run.phases.pass(.limit, since: began, "honours limit")
        }
        if old > 0 {
            run.phases.fail(
                .sinceIgnored, .since, .warning, since: began, "ignores `since`",
                "use another relay: after a reconnect clients get old events again")
        } else if !run.isConclusive(answer) {
            run.phases.markInconclusive(.since, answer.end)
        } else {
            run.phases.pass(.since, since: began, "honours since")
        }
    }
}
