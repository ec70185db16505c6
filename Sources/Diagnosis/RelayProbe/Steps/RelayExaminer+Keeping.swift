import BotKit
import Nostr

/// Checks of repeated, oversize, expired, deleted and rapid events.
extension RelayExaminer {
    func repeatOne(_ writer: RelayWire) async {
        let began = ContinuousClock.now
        guard let event = groupEvents.first, !budget.isSpent else { return }
        let (outcome, took) = await writer.publish(event, by: budget.deadline)
        let advice = "tell its operator: clients send again what they had no answer to, and take that for a refusal"
        switch outcome {
        case .accepted: pass(.duplicate, after: took, "says OK again")
        case .refused where outcome.isRefused(.rateLimited): noteHaste(.warning, "a second copy of an event")
        case .refused(let text):
            fail(
                .duplicateRefused, .duplicate, .warning, since: began, "refuses what it has already: \(text)", advice)
        case .unanswered where budget.isSpent: miss(.duplicate, "no time was left")
        case .unanswered:
            fail(
                .duplicateRefused, .duplicate, .warning, since: began, "says nothing to what it has already", advice)
        case .lost(let reason):
            fail(
                .duplicateRefused, .duplicate, .warning, since: began,
                "ends the connection when it gets what it has already: \(PlainText.of(reason))", advice)
        }
    }

    // MARK: Size

    func tryLarge() async {
        guard !groupEvents.isEmpty else { return }
        let began = ContinuousClock.now
        guard let failure = await failure(ofSize: EventSizes.common) else {
            return pass(.size, since: began, "takes messages of \(EventSizes.common) bytes")
        }
        // Nothing was sent, which is already reported.
        guard !has(.connectionLost, .size) else { return }
        guard !failure.isHaste else { return noteHaste(.warning, failure.text) }
        guard !budget.isSpent else { return miss(.size, "no time was left") }
        let text = "does not take messages of \(EventSizes.common) bytes (\(failure.text))"
        let least = await self.failure(ofSize: EventSizes.least)
        guard !has(.connectionLost, .size) else { return }
        if let least, !least.isHaste {
            guard !budget.isSpent else { return miss(.size, "no time was left") }
            return fail(
                .sizeLimit, .size, .error, since: began, "\(text), nor of \(EventSizes.least)",
                "use another relay: key packages and commits do not fit")
        }
        fail(
            .sizeLimit, .size, .warning, since: began, text,
            "use another relay if groups have more than a dozen members: invitations into them do not fit")
    }

    /// Publishes a message of this size; returns nil if the relay accepts it. Uses its own connection, since some
    /// relays close it.
    private func failure(ofSize size: Int) async -> (text: String, isHaste: Bool)? {
        guard let wire = await another(.size) else { return ("no connection", false) }
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

    func lookForExpired() async {
        let began = ContinuousClock.now
        let mortal = accepted.filter {
            $0.kind == .groupEvent && ($0.expiration ?? .max) <= $0.createdAt.clampedAdding(60)
        }
        guard let last = mortal.compactMap(\.expiration).max(), shift == 0 else { return }
        let wait = Duration.seconds(max(0, last - ThrowawayEvent.now) + 1)
        guard budget.has(wait + .milliseconds(500)) else { return miss(.expiration, "no time was left") }
        try? await Task.sleep(for: wait)
        guard let reader = await another(.expiration) else { return }
        let ids = mortal.map(\.id)
        let answer = await reader.ask(Filter(ids: ids), by: answerDeadline)
        guard answer.events.contains(where: { ids.contains($0.id) }) else {
            guard isWhole(answer) else { return missAnswer(.expiration, answer.end) }
            return pass(.expiration, since: began, "gives nothing out after its end")
        }
        let text = "gives out events after their end"
        guard report.supportedNIPs.contains(40) else {
            return skip(.expiration, "\(text), and does not say that it knows NIP-40")
        }
        fail(
            .expirationIgnored, .expiration, .warning, since: began, "\(text), though it says that it knows NIP-40",
            "do not count on disappearing messages there")
    }

    func delete(_ writer: RelayWire) async {
        let began = ContinuousClock.now
        guard !accepted.isEmpty else { return }
        let event = ThrowawayEvent.deletion(of: accepted, by: author, [expiration], at: now)
        let (outcome, _) = await writer.publish(event, by: budget.lastDeadline)
        guard outcome.isAccepted else {
            if outcome == .unanswered, budget.isSpent { return miss(.deletion, "no time was left") }
            if outcome.isRefused(.rateLimited) { return noteHaste(.warning, "a deletion") }
            let why = if case .refused(let text) = outcome { text } else { "no answer" }
            return judgeDeletion("refuses deletions (\(why))", since: began)
        }
        guard let first = groupEvents.first, report.isReadBack == true,
            let reader = await another(.deletion)
        else { return }
        for attempt in 0..<2 {
            if attempt > 0 { try? await Task.sleep(for: min(budget.limit, .milliseconds(500))) }
            let answer = await reader.ask(Filter(ids: [first.id]), expecting: [first.id], by: answerDeadline)
            guard answer.ids.contains(first.id) else {
                guard isWhole(answer) else { return missAnswer(.deletion, answer.end) }
                return pass(.deletion, since: began, "has forgotten what its author deleted")
            }
        }
        judgeDeletion("keeps what its author has deleted", since: began)
    }

    private func judgeDeletion(_ text: String, since began: ContinuousClock.Instant) {
        guard report.supportedNIPs.contains(9) else {
            return skip(.deletion, "\(text), and does not say that it knows NIP-09")
        }
        fail(
            .deletionIgnored, .deletion, .warning, since: began, "\(text), though it says that it knows NIP-09",
            "do not count on deletions there")
    }

    // MARK: Rate

    /// Events that a busy group sends at once.
    static let burst = 20

    /// Sends ephemeral events only, so that nothing is stored.
    func hurry() async {
        let began = ContinuousClock.now
        guard !accepted.isEmpty, !has(.rateLimited), let wire = await another(.rate) else { return }
        let events = (0..<Self.burst).map { _ in make(ThrowawayEvent.echoKind) }
        let outcomes = await wire.publish(events, by: budget.deadline).map(\.0)
        let taken = outcomes.count(where: \.isAccepted)
        if let hasty = outcomes.first(where: { $0.isRefused(.rateLimited) }), case .refused(let text) = hasty {
            return noteHaste(.warning, "\(text) (after \(taken) of \(Self.burst) at once)")
        }
        if case .lost(let reason)? = outcomes.last {
            return noteHaste(.warning, "\(PlainText.of(reason)) (after \(taken) of \(Self.burst) at once)")
        }
        if outcomes.last == .unanswered, budget.isSpent { return miss(.rate, "no time was left") }
        guard taken == outcomes.count else { return skip(.rate, "takes no passing events, with which this is tried") }
        pass(.rate, since: began, "takes \(Self.burst) events at once")
    }
}
