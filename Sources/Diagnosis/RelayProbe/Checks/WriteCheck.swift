import Nostr
import ProbeReports

/// Publishes one event of each kind that encrypted groups need.
struct WriteCheck {
    let writer: RelayWire

    func examine(_ run: inout ProbeRun) async {
        let began = ContinuousClock.now
        var events = run.events.samples()
        var outcomes = await writer.publish(events, by: run.budget.deadline)
        if await findClockShift(&run, events, outcomes, since: began) {
            events = run.events.samples()
            outcomes = await writer.publish(events, by: run.budget.deadline)
        }
        if !run.sendsEOSE, outcomes.allSatisfy({ !$0.0.isAccepted }), await run.connections.isSilent() {
            return run.phases.reportSilence(since: began)
        }
        if !run.sendsEOSE { run.phases.reportMissingEOSE(since: began) }
        await retryWithCurrentDate(&run, &events, &outcomes)
        for (event, outcome) in zip(events, outcomes) where outcome.0.isAccepted { run.events.recordAccepted(event) }
        judgeWriting(&run, events, outcomes, since: began)
    }

    // MARK: The relay's clock

    private static let timeWords = [
        "created_at", "future", "past", "timestamp", "too old", "too new", "too early", "too late", "expire", "clock",
    ]

    private func mentionsTime(_ outcome: PublishOutcome) -> Bool {
        guard case .refused(let text) = outcome else { return false }
        return Self.timeWords.contains { text.lowercased().contains($0) }
    }

    /// Returns whether the relay accepts events with another date, which means that its clock is off.
    private func findClockShift(
        _ run: inout ProbeRun,
        _ events: [Event], _ outcomes: [(PublishOutcome, Duration)],
        since began: ContinuousClock.Instant
    ) async -> Bool {
        guard let first = outcomes.first?.0, mentionsTime(first), case .refused(let text) = first else { return false }
        let shifts: [Int64] = [300, 900, 3_600, 4 * 3_600, 86_400].flatMap { [-$0, $0] }
        let tries = shifts.map { run.events.message(shiftedBy: $0) }
        let found = zip(shifts, await writer.publish(tries, by: run.budget.deadline)).filter { $0.1.0.isAccepted }
        for (event, outcome) in zip(events, outcomes) where outcome.0.isAccepted { run.events.recordAccepted(event) }
        for (event, shift) in zip(tries, shifts) where found.contains(where: { $0.0 == shift }) {
            run.events.recordAccepted(event)
        }
        guard let best = found.map(\.0).first else { return false }
        run.events.recordShift(best)
        run.phases.fail(
            .clockOff, .clock, .error, since: began,
            "refuses events dated now (\(text)), but accepts them dated \(abs(best)) s "
                + (best < 0 ? "earlier" : "later") + ": its clock differs from the local one",
            "check this machine's clock (timedatectl); if it is right, tell the relay's operator")
        return true
    }

    /// Publishes a refused gift wrap again with the current date, in case it was refused only for its date.
    private func retryWithCurrentDate(
        _ run: inout ProbeRun,
        _ events: inout [Event], _ outcomes: inout [(PublishOutcome, Duration)]
    ) async {
        guard let index = events.firstIndex(where: { $0.kind == .giftWrap }),
            case .refused(let text) = outcomes[index].0,
            outcomes.contains(where: { $0.0.isAccepted }), !outcomes[index].0.isRefused(.rateLimited)
        else { return }
        let undated = run.events.sample(.giftWrap)
        let outcome = await writer.publish(undated, by: run.budget.deadline)
        guard outcome.0.isAccepted else { return }
        (events[index], outcomes[index]) = (undated, outcome)
        guard run.events.shift == 0 else { return }
        run.phases.fail(
            .datedRefused, .kind1059, .error, since: .now,
            "refuses invitations dated two days back, as NIP-59 allows: \(text)", "use another relay for invitations")
    }

    // MARK: Evaluation

    private func judgeWriting(
        _ run: inout ProbeRun,
        _ events: [Event], _ outcomes: [(PublishOutcome, Duration)], since began: ContinuousClock.Instant
    ) {
        let hasty = outcomes.filter { $0.0.isRefused(.rateLimited) }
        if let (outcome, _) = hasty.first, case .refused(let text) = outcome { run.phases.noteRateLimit(.error, text) }
        guard outcomes.contains(where: { $0.0.isAccepted }) else {
            return judgeFailedWrites(&run, outcomes.map(\.0), since: began)
        }
        run.phases.pass(.write, after: outcomes.first?.1 ?? .zero, "accepts events of unknown keys")
        for (event, (outcome, took)) in zip(events, outcomes) {
            guard let phase = event.kind.phase else { continue }
            judge(&run, outcome, of: event.kind, phase, took)
        }
    }

    private func judge(
        _ run: inout ProbeRun, _ outcome: PublishOutcome, of kind: Kind, _ phase: RelayPhase, _ took: Duration
    ) {
        switch outcome {
        case .accepted: run.phases.pass(phase, after: took, "acknowledged (OK)")
        case .refused where outcome.isRefused(.rateLimited):
            run.phases.markUnreached(phase, "refused because of the rate limit")
        case .refused(let text):
            run.phases.fail(
                .kindRefused, phase, .error, since: .now - took, "refuses kind \(kind): \(text)",
                RelayRecord.advice(refusal: text))
        case .unanswered where run.budget.isSpent: run.phases.markUnreached(phase, "no time left")
        case .unanswered:
            run.phases.fail(
                .writeUnanswered, phase, .error, since: .now - took, "does not acknowledge kind \(kind)",
                "use another relay: clients cannot know whether it accepted an event")
        case .lost(let reason):
            run.phases.fail(
                .connectionLost, phase, .error, since: .now - took,
                "closes the connection on kind \(kind): \(PlainText.of(reason))", "ask its operator why")
        }
    }

    private func judgeFailedWrites(
        _ run: inout ProbeRun, _ outcomes: [PublishOutcome], since began: ContinuousClock.Instant
    ) {
        let (why, advice): (String, String)
        switch outcomes.first {
        case .refused(let text) where outcomes[0].isRefused(.rateLimited):
            return run.phases.markUnreached(.write, "refused because of the rate limit: \(text)")
        case .refused(let text) where outcomes[0].isRefused(.authenticationRequired):
            return run.login.postpone(.write, text, in: &run.phases)
        case .refused(let text):
            (why, advice) = (text, RelayRecord.advice(refusal: text))
            for kind in ProbeEvents.kinds {
                if let phase = kind.phase { run.phases.markUnreached(phase, "refused like all other events") }
            }
            return run.phases.fail(
                .writeRefused, .write, .error, since: began, "refuses events of unknown keys: \(why)", advice)
        case .lost(let reason):
            return run.phases.fail(
                .connectionLost, .write, .error, since: began,
                "closes the connection on writes: \(PlainText.of(reason))", "ask its operator why")
        // Reported as too slow at the end.
        case .unanswered where run.budget.isSpent: break
        default:
            run.phases.fail(
                .writeUnanswered, .write, .error, since: began, "does not acknowledge events (OK)",
                "use another relay: clients cannot know whether it accepted an event")
        }
    }
}
