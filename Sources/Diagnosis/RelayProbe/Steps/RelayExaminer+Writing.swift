import BotKit
import Nostr

/// Publishes one event of each kind that encrypted groups need.
extension RelayExaminer {
    /// Lifetime in seconds of written events that are not deleted.
    static let lifetime: Int64 = 3_600
    /// NIP-59 dates gift wraps up to two days in the past.
    static let backdating = Int64(RelayRequirements.backdating - 120)
    static let kinds: [Kind] = [
        .groupEvent, .keyPackage, .addressableKeyPackage, .giftWrap, .inboxRelays, .keyPackageRelays,
    ]

    var now: Int64 { ThrowawayEvent.now + shift }

    /// The expiration tag of written events; in the future by both clocks.
    var expiration: Tag { .expiration(at: max(ThrowawayEvent.now, now) + Self.lifetime) }

    func make(_ kind: Kind, _ tags: [Tag] = [], age: Int64 = 0, contentBytes: Int = 256) -> Event {
        ThrowawayEvent.make(
            kind, by: author, tags + [expiration], at: now - age, contentBytes: contentBytes)
    }

    func sample(_ kind: Kind, age: Int64 = 0) -> Event {
        switch kind {
        case .groupEvent: return make(kind, [Tag("h", group)], age: age)
        case .giftWrap: return make(kind, [.user(visitor.publicKey)], age: age)
        case .inboxRelays, .keyPackageRelays: return make(kind, [Tag("relay", relay.string)], age: age)
        default:
            let slot = kind.isAddressable ? [Tag("d", "pikabot-probe")] : []
            let tags = [
                Tag("mls_protocol_version", "1.0"), Tag("mls_ciphersuite", "0x0001"),
                Tag("mls_extensions", "0x000a", "0xf2ee"), Tag("mls_proposals", "0x000a"),
                Tag("relays", relay.string), Tag("i", group), Tag("client", "pikabot probe"), Tag("encoding", "base64"),
            ]
            return make(kind, slot + tags, age: age)
        }
    }

    func write(_ writer: RelayWire, _ listener: RelayWire) async {
        let began = ContinuousClock.now
        var events = samples()
        var outcomes = await writer.publish(events, by: budget.deadline)
        if await findClockShift(writer, events, outcomes, since: began) {
            events = samples()
            outcomes = await writer.publish(events, by: budget.deadline)
        }
        if !sendsEOSE, outcomes.allSatisfy({ !$0.0.isAccepted }), await isSilent() {
            return reportSilence(since: began)
        }
        if !sendsEOSE { reportMissingEOSE(since: began) }
        await retryWithCurrentDate(writer, &events, &outcomes)
        for (event, outcome) in zip(events, outcomes) where outcome.0.isAccepted { accepted.append(event) }
        judgeWriting(events, outcomes, since: began)
    }

    private func samples() -> [Event] {
        Self.kinds.map { sample($0, age: $0 == .giftWrap ? Self.backdating + shift : 0) }
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
        _ writer: RelayWire, _ events: [Event], _ outcomes: [(PublishOutcome, Duration)],
        since began: ContinuousClock.Instant
    ) async -> Bool {
        guard let first = outcomes.first?.0, mentionsTime(first), case .refused(let text) = first else { return false }
        let shifts: [Int64] = [300, 900, 3_600, 4 * 3_600, 86_400].flatMap { [-$0, $0] }
        let tries = shifts.map { shift in
            let end = Tag.expiration(at: now + max(0, shift) + Self.lifetime)
            return ThrowawayEvent.make(
                .groupEvent, by: author, [Tag("h", visitor.publicKey.hex), end], at: now + shift)
        }
        let found = zip(shifts, await writer.publish(tries, by: budget.deadline)).filter { $0.1.0.isAccepted }
        for (event, outcome) in zip(events, outcomes) where outcome.0.isAccepted { accepted.append(event) }
        accepted += zip(tries, shifts).filter { pair in found.contains { $0.0 == pair.1 } }.map(\.0)
        guard let best = found.map(\.0).first else { return false }
        shift = best
        fail(
            .clockOff, .clock, .error, since: began,
            "refuses events dated now (\(text)), but accepts them dated \(abs(best)) s "
                + (best < 0 ? "earlier" : "later") + ": its clock differs from the local one",
            "check this machine's clock (timedatectl); if it is right, tell the relay's operator")
        return true
    }

    /// Publishes a refused gift wrap again with the current date, in case it was refused only for its date.
    private func retryWithCurrentDate(
        _ writer: RelayWire, _ events: inout [Event], _ outcomes: inout [(PublishOutcome, Duration)]
    ) async {
        guard let index = events.firstIndex(where: { $0.kind == .giftWrap }),
            case .refused(let text) = outcomes[index].0,
            outcomes.contains(where: { $0.0.isAccepted }), !outcomes[index].0.isRefused(.rateLimited)
        else { return }
        let undated = sample(.giftWrap)
        let outcome = await writer.publish(undated, by: budget.deadline)
        guard outcome.0.isAccepted else { return }
        (events[index], outcomes[index]) = (undated, outcome)
        guard shift == 0 else { return }
        fail(
            .datedRefused, .kind1059, .error, since: .now,
            "refuses invitations dated two days back, as NIP-59 allows: \(text)", "use another relay for invitations")
    }

    // MARK: Evaluation

    private func judgeWriting(
        _ events: [Event], _ outcomes: [(PublishOutcome, Duration)], since began: ContinuousClock.Instant
    ) {
        let hasty = outcomes.filter { $0.0.isRefused(.rateLimited) }
        if let (outcome, _) = hasty.first, case .refused(let text) = outcome { noteRateLimit(.error, text) }
        guard outcomes.contains(where: { $0.0.isAccepted }) else {
            return judgeFailedWrites(outcomes.map(\.0), since: began)
        }
        pass(.write, after: outcomes.first?.1 ?? .zero, "accepts events of unknown keys")
        for (event, (outcome, took)) in zip(events, outcomes) {
            guard let phase = event.kind.phase else { continue }
            judge(outcome, of: event.kind, phase, took)
        }
    }

    private func judge(_ outcome: PublishOutcome, of kind: Kind, _ phase: RelayPhase, _ took: Duration) {
        switch outcome {
        case .accepted: pass(phase, after: took, "acknowledged (OK)")
        case .refused where outcome.isRefused(.rateLimited): markUnreached(phase, "refused because of the rate limit")
        case .refused(let text):
            fail(
                .kindRefused, phase, .error, since: .now - took, "refuses kind \(kind): \(text)",
                RelayRecord.advice(refusal: text))
        case .unanswered where budget.isSpent: markUnreached(phase, "no time left")
        case .unanswered:
            fail(
                .writeUnanswered, phase, .error, since: .now - took, "does not acknowledge kind \(kind)",
                "use another relay: clients cannot know whether it accepted an event")
        case .lost(let reason):
            fail(
                .connectionLost, phase, .error, since: .now - took,
                "closes the connection on kind \(kind): \(PlainText.of(reason))", "ask its operator why")
        }
    }

    private func judgeFailedWrites(_ outcomes: [PublishOutcome], since began: ContinuousClock.Instant) {
        let (why, advice): (String, String)
        switch outcomes.first {
        case .refused(let text) where outcomes[0].isRefused(.rateLimited):
            return markUnreached(.write, "refused because of the rate limit: \(text)")
        case .refused(let text) where outcomes[0].isRefused(.authenticationRequired):
            return deferToLogin(.write, text)
        case .refused(let text):
            (why, advice) = (text, RelayRecord.advice(refusal: text))
            for kind in Self.kinds {
                if let phase = kind.phase { markUnreached(phase, "refused like all other events") }
            }
            return fail(
                .writeRefused, .write, .error, since: began, "refuses events of unknown keys: \(why)", advice)
        case .lost(let reason):
            return fail(
                .connectionLost, .write, .error, since: began,
                "closes the connection on writes: \(PlainText.of(reason))", "ask its operator why")
        // Reported as too slow at the end.
        case .unanswered where budget.isSpent: break
        default:
            fail(
                .writeUnanswered, .write, .error, since: began, "does not acknowledge events (OK)",
                "use another relay: clients cannot know whether it accepted an event")
        }
    }
}
