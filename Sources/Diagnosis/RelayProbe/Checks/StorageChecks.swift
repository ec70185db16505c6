import Nostr
import ProbeReports

/// Checks of repeated, oversize, expired, deleted and rapid events.
struct StorageChecks {
    let writer: RelayWire

    func checkDuplicate(_ run: inout ProbeRun) async {
        let began = ContinuousClock.now
        guard let event = run.events.groupEvents.first, !run.budget.isSpent else { return }
        let (outcome, took) = await writer.publish(event, by: run.budget.deadline)
        let advice = "tell its operator: clients resend unacknowledged events and count this as a refusal"
        switch outcome {
        case .accepted: run.phases.pass(.duplicate, after: took, "acknowledges it again (OK)")
        case .refused where outcome.isRefused(.rateLimited):
            run.phases.noteRateLimit(.warning, "a second copy of an event")
        case .refused(let text):
            run.phases.fail(
                .duplicateRefused, .duplicate, .warning, since: began, "refuses duplicates: \(text)", advice)
        case .unanswered where run.budget.isSpent: run.phases.markUnreached(.duplicate, "no time left")
        case .unanswered:
            run.phases.fail(
                .duplicateRefused, .duplicate, .warning, since: began, "does not acknowledge duplicates", advice)
        case .lost(let reason):
            run.phases.fail(
                .duplicateRefused, .duplicate, .warning, since: began,
                "closes the connection on duplicates: \(PlainText.of(reason))", advice)
        }
    }

    // MARK: Size

    func checkSize(_ run: inout ProbeRun) async {
        guard !run.events.groupEvents.isEmpty else { return }
        let began = ContinuousClock.now
        guard let failure = await failure(&run, ofSize: EventSizes.common) else {
            return run.phases.pass(.size, since: began, "accepts messages of \(EventSizes.common) bytes")
        }
        // Nothing was sent, which is already reported.
        guard !run.phases.hasFault(.connectionLost, .size) else { return }
        guard !failure.isRateLimit else { return run.phases.noteRateLimit(.warning, failure.text) }
        guard !run.budget.isSpent else { return run.phases.markUnreached(.size, "no time left") }
        let text = "does not accept messages of \(EventSizes.common) bytes (\(failure.text))"
        let least = await self.failure(&run, ofSize: EventSizes.least)
        guard !run.phases.hasFault(.connectionLost, .size) else { return }
        if let least, !least.isRateLimit {
            guard !run.budget.isSpent else { return run.phases.markUnreached(.size, "no time left") }
            return run.phases.fail(
                .sizeLimit, .size, .error, since: began, "\(text), nor of \(EventSizes.least) bytes",
                "use another relay: key packages and commits do not fit")
        }
        run.phases.fail(
            .sizeLimit, .size, .warning, since: began, text,
            "use another relay if groups have more than a dozen members: their invitations do not fit")
    }

    /// Publishes a message of this size; returns nil if the relay accepts it. Uses its own connection, since some
    /// relays close it.
    private func failure(_ run: inout ProbeRun, ofSize size: Int) async -> (text: String, isRateLimit: Bool)? {
        guard let wire = await run.openConnection(for: .size) else { return ("no connection", false) }
        defer { wire.close() }
        let event = run.events.filled(to: size)
        let (outcome, _) = await wire.publish(event, by: run.budget.deadline)
        switch outcome {
        case .accepted:
            run.events.recordAccepted(event)
            return nil
        case .refused(let text): return (text, outcome.isRefused(.rateLimited))
        case .unanswered: return ("no answer", false)
        case .lost(let reason): return (PlainText.of(reason), false)
        }
    }

    // MARK: Expiration

    func checkExpiration(_ run: inout ProbeRun) async {
        let began = ContinuousClock.now
        let expiring = run.events.accepted.filter {
            // checked: UnixTime stays within its range
            $0.kind == .groupEvent && ($0.expiration ?? .distantFuture) <= $0.createdAt + 60
        }
        guard let last = expiring.compactMap(\.expiration).max(), run.events.shift == 0 else { return }
        let wait = Duration.seconds(max(0, last.seconds(since: ThrowawayEvent.now)) + 1)
        guard run.budget.has(wait + .milliseconds(500)) else {
            return run.phases.markUnreached(.expiration, "no time left")
        }
        try? await Task.sleep(for: wait)
        guard let reader = await run.openConnection(for: .expiration) else { return }
        let ids = expiring.map(\.id)
        let answer = await reader.query(Filter(ids: ids), by: run.answerDeadline)
        guard answer.events.contains(where: { ids.contains($0.id) }) else {
            guard run.isConclusive(answer) else { return run.phases.markInconclusive(.expiration, answer.end) }
            return run.phases.pass(.expiration, since: began, "does not return expired events")
        }
        let text = "returns expired events"
        guard run.phases.report.supportedNIPs.contains(40) else {
            return run.phases.skip(.expiration, "\(text), but does not claim to support NIP-40")
        }
        run.phases.fail(
            .expirationIgnored, .expiration, .warning, since: began, "\(text), although it claims to support NIP-40",
            "do not rely on disappearing messages there")
    }

    func checkDeletion(_ run: inout ProbeRun) async {
        let began = ContinuousClock.now
        guard !run.events.accepted.isEmpty else { return }
        let event = run.events.deletion()
        let (outcome, _) = await writer.publish(event, by: run.budget.lastDeadline)
        guard outcome.isAccepted else {
            if outcome == .unanswered, run.budget.isSpent { return run.phases.markUnreached(.deletion, "no time left") }
            if outcome.isRefused(.rateLimited) { return run.phases.noteRateLimit(.warning, "a deletion") }
            let why = if case .refused(let text) = outcome { text } else { "no answer" }
            return judgeDeletion(&run, "refuses deletions (\(why))", since: began)
        }
        guard let first = run.events.groupEvents.first, run.phases.report.isReadBack == true,
            let reader = await run.openConnection(for: .deletion)
        else { return }
        for attempt in 0..<2 {
            if attempt > 0 { try? await Task.sleep(for: min(run.budget.limit, .milliseconds(500))) }
            let answer = await reader.query(Filter(ids: [first.id]), expecting: [first.id], by: run.answerDeadline)
            guard answer.ids.contains(first.id) else {
                guard run.isConclusive(answer) else { return run.phases.markInconclusive(.deletion, answer.end) }
                return run.phases.pass(.deletion, since: began, "no longer returns deleted events")
            }
        }
        judgeDeletion(&run, "returns deleted events", since: began)
    }

    private func judgeDeletion(_ run: inout ProbeRun, _ text: String, since began: ContinuousClock.Instant) {
        guard run.phases.report.supportedNIPs.contains(9) else {
            return run.phases.skip(.deletion, "\(text), but does not claim to support NIP-09")
        }
        run.phases.fail(
            .deletionIgnored, .deletion, .warning, since: began, "\(text), although it claims to support NIP-09",
            "do not rely on deletions there")
    }

    // MARK: Rate

    /// Events that a busy group sends at once.
    static let burst = 20

    /// Sends ephemeral events only, so that nothing is stored.
    func checkRate(_ run: inout ProbeRun) async {
        let began = ContinuousClock.now
        guard !run.events.accepted.isEmpty, !run.phases.hasFault(.rateLimited),
            let wire = await run.openConnection(for: .rate)
        else { return }
        let events = (0..<Self.burst).map { _ in run.events.make(ThrowawayEvent.echoKind) }
        let outcomes = await wire.publish(events, by: run.budget.deadline).map(\.0)
        let acceptedCount = outcomes.count(where: \.isAccepted)
        if let hasty = outcomes.first(where: { $0.isRefused(.rateLimited) }), case .refused(let text) = hasty {
            return run.phases.noteRateLimit(.warning, "\(text) (after \(acceptedCount) of \(Self.burst) at once)")
        }
        if case .lost(let reason)? = outcomes.last {
            return run.phases.noteRateLimit(
                .warning, "\(PlainText.of(reason)) (after \(acceptedCount) of \(Self.burst) at once)")
        }
        if outcomes.last == .unanswered, run.budget.isSpent { return run.phases.markUnreached(.rate, "no time left") }
        guard acceptedCount == outcomes.count else {
            return run.phases.skip(.rate, "refuses ephemeral events, which this check uses")
        }
        run.phases.pass(.rate, since: began, "accepts \(Self.burst) events at once")
    }
}
