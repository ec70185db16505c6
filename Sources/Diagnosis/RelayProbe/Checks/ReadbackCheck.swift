import Nostr
import ProbeReports

/// Checks whether a relay returns accepted events, on a new connection.
struct ReadbackCheck {
    private let reader: RelayWire

    /// Writes the events that this check and ``StorageChecks/checkExpiration(_:)`` query.
    static func writeSamples(_ run: inout ProbeRun, on writer: RelayWire) async {
        guard !run.events.groupEvents.isEmpty, !run.budget.isSpent else { return }
        let all = run.events.querySamples()
        let outcomes = await writer.publish(all, by: run.budget.deadline)
        for (event, (outcome, _)) in zip(all, outcomes) {
            if case .refused(let text) = outcome, outcome.isRefused(.rateLimited) {
                run.phases.noteRateLimit(.warning, text)
            }
            if outcome.isAccepted { run.events.recordAccepted(event) }
        }
    }

    static func examine(_ run: inout ProbeRun) async {
        let began = ContinuousClock.now
        guard let first = run.events.groupEvents.first else {
            return run.phases.markUnreached(.readback, "no event was accepted")
        }
        guard let reader = await run.openConnection(for: .readback) else { return }
        let check = ReadbackCheck(reader: reader)
        let answer = await check.query(run.budget, for: [first])
        let isThere = answer.ids.contains(first.id)
        guard isThere || run.isConclusive(answer) else {
            return run.phases.reportIncomplete(answer.end, .readback, since: began)
        }
        run.phases.recordReadBack(isThere)
        guard isThere else {
            run.phases.fail(
                .silentDrop, .readback, .error, since: began,
                "acknowledges events, but does not return them on a new connection",
                "use another relay: it loses messages")
            return run.phases.markUnreached(.silentDrop, "not even group messages are returned")
        }
        run.phases.pass(.readback, since: began, "returns written events")
        guard await check.checkSilentDrops(&run) else { return }
        await check.checkSlots(&run)
        let filters = FilterChecks(reader: reader)
        guard await filters.examine(&run) else { return }
        await filters.checkConcurrentQueries(&run)
    }

    /// Queries events, and again after a moment if some are missing: some relays send OK before they have stored the
    /// event.
    private func query(_ budget: ProbeBudget, for events: [Event]) async -> QueryResult {
        let ids = events.map(\.id)
        let answer = await reader.query(Filter(ids: ids), expecting: Set(ids), by: budget.deadline)
        guard answer.end == .complete, !Set(ids).isSubset(of: answer.ids) else { return answer }
        try? await Task.sleep(for: min(budget.limit, .milliseconds(500)))
        return await reader.query(Filter(ids: ids), expecting: Set(ids), by: budget.deadline)
    }

    /// Returns whether further queries make sense.
    private func checkSilentDrops(_ run: inout ProbeRun) async -> Bool {
        let began = ContinuousClock.now
        var missing: [Kind] = []
        var broken: QueryResult.End?
        // One query per kind: a refused kind or a small cap must not hide the others.
        for kind in ProbeEvents.kinds {
            let accepted = run.events.accepted.filter { $0.kind == kind }
            // The first addressable event may have been replaced, which another check reports.
            guard let event = kind.isAddressable ? accepted.last : accepted.first, broken == nil else { continue }
            let answer = await query(run.budget, for: [event])
            guard !answer.ids.contains(event.id) else { continue }
            // Some relays serve gift wraps to their recipient only, and refuse or hide them otherwise.
            let isBarred =
                if case .closed = answer.end { true } else { run.probe.login != nil && run.isConclusive(answer) }
            if kind == .giftWrap, isBarred { continue }
            if run.isConclusive(answer) { missing.append(kind) } else { broken = answer.end }
        }
        if !missing.isEmpty {
            run.phases.fail(
                .silentDrop, .silentDrop, .error, since: began,
                "acknowledges kind \(missing.map(\.description).joined(separator: ", ")), but does not return it",
                "use another relay: it loses messages")
        } else if let broken {
            run.phases.reportIncomplete(broken, .silentDrop, since: began)
        } else {
            run.phases.pass(.silentDrop, since: began, "returns all accepted events")
        }
        return broken == nil
    }

    /// Queries an author's key packages as inviters do. An account with both protocol generations has two, and neither
    /// may replace the other.
    private func checkSlots(_ run: inout ProbeRun) async {
        let began = ContinuousClock.now
        guard let packages = run.events.keyPackagesInTwoSlots, let author = packages.first?.pubkey else {
            return run.phases.markUnreached(.slots, "the key packages were not accepted")
        }
        let ids = Set(packages.map(\.id))
        let answer = await reader.query(
            Filter(authors: [author], kinds: [.addressableKeyPackage]), expecting: ids, by: run.answerDeadline)
        if ids.isSubset(of: answer.ids) {
            run.phases.pass(.slots, since: began, "keeps key packages with different `d` tags")
        } else if !run.isConclusive(answer) {
            run.phases.markInconclusive(.slots, answer.end)
        } else if ids.isDisjoint(with: answer.ids) {
            run.phases.markUnreached(.slots, "no key package is returned")
        } else {
            run.phases.fail(
                .slotsMerged, .slots, .error, since: began,
                "keeps only one of two key packages with different `d` tags",
                "use another relay: an account's key packages of both protocol generations displace each other there")
        }
    }
}
