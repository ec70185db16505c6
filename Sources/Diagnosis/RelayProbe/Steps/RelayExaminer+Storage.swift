import BotKit
import Nostr

/// Checks of repeated, oversize, expired, deleted and rapid events.
extension RelayExaminer {
    func checkDuplicate(_ writer: RelayWire) async {
        let began = ContinuousClock.now
        guard let event = groupEvents.first, !budget.isSpent else { return }
        let (outcome, took) = await writer.publish(event, by: budget.deadline)
        let advice = "tell its operator: clients resend unacknowledged events and count this as a refusal"
        switch outcome {
        case .accepted: pass(.duplicate, after: took, "acknowledges it again (OK)")
        case .refused where outcome.isRefused(.rateLimited): noteRateLimit(.warning, "a second copy of an event")
        case .refused(let text):
            fail(
                .duplicateRefused, .duplicate, .warning, since: began, "refuses duplicates: \(text)", advice)
        case .unanswered where budget.isSpent: markUnreached(.duplicate, "no time left")
        case .unanswered:
            fail(
                .duplicateRefused, .duplicate, .warning, since: began, "does not acknowledge duplicates", advice)
        case .lost(let reason):
            fail(
                .duplicateRefused, .duplicate, .warning, since: began,
                "closes the connection on duplicates: \(PlainText.of(reason))", advice)
        }
    }

    // MARK: Size

    func checkSize() async {
        guard !groupEvents.isEmpty else { return }
        let began = ContinuousClock.now
        guard let failure = await failure(ofSize: EventSizes.common) else {
            return pass(.size, since: began, "accepts messages of \(EventSizes.common) bytes")
        }
        // Nothing was sent, which is already reported.
        guard !hasFault(.connectionLost, .size) else { return }
        guard !failure.isRateLimit else { return noteRateLimit(.warning, failure.text) }
        guard !budget.isSpent else { return markUnreached(.size, "no time left") }
        let text = "does not accept messages of \(EventSizes.common) bytes (\(failure.text))"
        let least = await self.failure(ofSize: EventSizes.least)
        guard !hasFault(.connectionLost, .size) else { return }
        if let least, !least.isRateLimit {
            guard !budget.isSpent else { return markUnreached(.size, "no time left") }
            return fail(
                .sizeLimit, .size, .error, since: began, "\(text), nor of \(EventSizes.least) bytes",
                "use another relay: key packages and commits do not fit")
        }
        fail(
            .sizeLimit, .size, .warning, since: began, text,
            "use another relay if groups have more than a dozen members: their invitations do not fit")
    }

    /// Publishes a message of this size; returns nil if the relay accepts it. Uses its own connection, since some
    /// relays close it.
    private func failure(ofSize size: Int) async -> (text: String, isRateLimit: Bool)? {
        guard let wire = await openConnection(for: .size) else { return ("no connection", false) }
        defer { wire.close() }
        let event = filled(to: size)
        let (outcome, _) = await wire.publish(event, by: budget.deadline)
        switch outcome {
        case .accepted:
            accepted.append(event)
            return nil
        case .refused(let text): return (text, outcome.isRefused(.rateLimited))
        case .unanswered: return ("no answer", false)
        case .lost(let reason): return (PlainText.of(reason), false)
        }
    }

    /// Returns a group message whose `EVENT` has exactly this many bytes.
    func filled(to size: Int) -> Event {
        let empty = ClientMessage.event(make(.groupEvent, [Tag("h", group)], contentBytes: 0)).json().count
        // Base64 has a granularity of four characters; the remainder goes into a tag's value.
        let room = max(0, size - empty)
        let bytes = room / 4 * 3
        let padding = String(repeating: "=", count: room % 4)
        return make(.groupEvent, [Tag("h", group + padding)], contentBytes: bytes)
    }

    // MARK: Expiration

    func checkExpiration() async {
        let began = ContinuousClock.now
        let expiring = accepted.filter {
            $0.kind == .groupEvent && ($0.expiration ?? .max) <= $0.createdAt.clampedAdding(60)
        }
        guard let last = expiring.compactMap(\.expiration).max(), shift == 0 else { return }
        let wait = Duration.seconds(max(0, last - ThrowawayEvent.now) + 1)
        guard budget.has(wait + .milliseconds(500)) else { return markUnreached(.expiration, "no time left") }
        try? await Task.sleep(for: wait)
        guard let reader = await openConnection(for: .expiration) else { return }
        let ids = expiring.map(\.id)
        let answer = await reader.query(Filter(ids: ids), by: answerDeadline)
        guard answer.events.contains(where: { ids.contains($0.id) }) else {
            guard isConclusive(answer) else { return markInconclusive(.expiration, answer.end) }
            return pass(.expiration, since: began, "does not return expired events")
        }
        let text = "returns expired events"
        guard report.supportedNIPs.contains(40) else {
            return skip(.expiration, "\(text), but does not claim to support NIP-40")
        }
        fail(
            .expirationIgnored, .expiration, .warning, since: began, "\(text), although it claims to support NIP-40",
            "do not rely on disappearing messages there")
    }

    func checkDeletion(_ writer: RelayWire) async {
        let began = ContinuousClock.now
        guard !accepted.isEmpty else { return }
        let event = ThrowawayEvent.deletion(of: accepted, by: author, [expiration], at: now)
        let (outcome, _) = await writer.publish(event, by: budget.lastDeadline)
        guard outcome.isAccepted else {
            if outcome == .unanswered, budget.isSpent { return markUnreached(.deletion, "no time left") }
            if outcome.isRefused(.rateLimited) { return noteRateLimit(.warning, "a deletion") }
            let why = if case .refused(let text) = outcome { text } else { "no answer" }
            return judgeDeletion("refuses deletions (\(why))", since: began)
        }
        guard let first = groupEvents.first, report.isReadBack == true,
            let reader = await openConnection(for: .deletion)
        else { return }
        for attempt in 0..<2 {
            if attempt > 0 { try? await Task.sleep(for: min(budget.limit, .milliseconds(500))) }
            let answer = await reader.query(Filter(ids: [first.id]), expecting: [first.id], by: answerDeadline)
            guard answer.ids.contains(first.id) else {
                guard isConclusive(answer) else { return markInconclusive(.deletion, answer.end) }
                return pass(.deletion, since: began, "no longer returns deleted events")
            }
        }
        judgeDeletion("returns deleted events", since: began)
    }

    private func judgeDeletion(_ text: String, since began: ContinuousClock.Instant) {
        guard report.supportedNIPs.contains(9) else {
            return skip(.deletion, "\(text), but does not claim to support NIP-09")
        }
        fail(
            .deletionIgnored, .deletion, .warning, since: began, "\(text), although it claims to support NIP-09",
            "do not rely on deletions there")
    }

    // MARK: Rate

    /// Events that a busy group sends at once.
    static let burst = 20

    /// Sends ephemeral events only, so that nothing is stored.
    func checkRate() async {
        let began = ContinuousClock.now
        guard !accepted.isEmpty, !hasFault(.rateLimited), let wire = await openConnection(for: .rate) else { return }
        let events = (0..<Self.burst).map { _ in make(ThrowawayEvent.echoKind) }
        let outcomes = await wire.publish(events, by: budget.deadline).map(\.0)
        let acceptedCount = outcomes.count(where: \.isAccepted)
        if let hasty = outcomes.first(where: { $0.isRefused(.rateLimited) }), case .refused(let text) = hasty {
            return noteRateLimit(.warning, "\(text) (after \(acceptedCount) of \(Self.burst) at once)")
        }
        if case .lost(let reason)? = outcomes.last {
            return noteRateLimit(.warning, "\(PlainText.of(reason)) (after \(acceptedCount) of \(Self.burst) at once)")
        }
        if outcomes.last == .unanswered, budget.isSpent { return markUnreached(.rate, "no time left") }
        guard acceptedCount == outcomes.count else {
            return skip(.rate, "refuses ephemeral events, which this check uses")
        }
        pass(.rate, since: began, "accepts \(Self.burst) events at once")
    }
}
