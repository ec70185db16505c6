import Nostr

/// A relay's answer to an event.
enum PublishOutcome: Hashable, Sendable {
    /// Accepted, with the relay's message.
    case accepted(String)
    case refused(String)
    case unanswered
    /// The connection ended first.
    case lost(String)

    var isAccepted: Bool { if case .accepted = self { true } else { false } }

    /// Returns whether the refusal has this prefix.
    func isRefused(_ prefix: MessagePrefix) -> Bool {
        if case .refused(let text) = self { MessagePrefix(of: text) == prefix } else { false }
    }
}

/// A relay's answer to a query.
struct QueryResult: Hashable, Sendable {
    enum End: Hashable, Sendable {
        /// The relay sent `EOSE`.
        case complete
        /// All expected events arrived, with or without EOSE.
        case enough
        case closed(String)
        case unanswered
        case lost(String)
    }

    /// The events without duplicates, in order of arrival.
    var events: [Event]
    var end: End

    var ids: [EventID] { events.map(\.id) }
}

extension RelayWire {
    /// Publishes all events at once; resends those that the relay refused before a login after it.
    ///
    /// - Returns: For each event, in order, its result and the time since the start.
    nonisolated func publish(
        _ events: [Event], by deadline: ContinuousClock.Instant
    ) async -> [(PublishOutcome, Duration)] {
        var outcomes = await publishOnce(events, by: deadline)
        let barred = events.indices.filter { outcomes[$0].0.isRefused(.authenticationRequired) }
        guard !barred.isEmpty, await hasLoggedIn(by: deadline) else { return outcomes }
        for (index, outcome) in zip(barred, await publishOnce(barred.map { events[$0] }, by: deadline)) {
            outcomes[index] = outcome
        }
        return outcomes
    }

    nonisolated func publish(_ event: Event, by deadline: ContinuousClock.Instant) async -> (PublishOutcome, Duration) {
        await publish([event], by: deadline).first ?? (.unanswered, .zero)
    }

    private nonisolated func publishOnce(
        _ events: [Event], by deadline: ContinuousClock.Instant
    ) async -> [(PublishOutcome, Duration)] {
        let before = await received.updates
        // The connection has ended.
        if case .ended(let reason)? = before.last { return events.map { _ in (.lost(reason), .zero) } }
        let start = before.count
        let began = ContinuousClock.now
        for event in events { send(.event(event)) }
        var outcomes: [(PublishOutcome, Duration)] = []
        for event in events {
            let incoming = await received.first(from: start, by: deadline) { incoming in
                switch incoming {
                case .message(.ok(let id, _, _)): id == event.id
                case .ended: true
                default: false
                }
            }
            let took = ContinuousClock.now - began
            switch incoming {
            case .message(.ok(_, true, let text)): outcomes.append((.accepted(PlainText.of(text)), took))
            case .message(.ok(_, false, let text)): outcomes.append((.refused(PlainText.of(text)), took))
            case .ended(let reason): outcomes.append((.lost(reason), took))
            default: outcomes.append((.unanswered, took))
            }
        }
        return outcomes
    }

    /// Opens a subscription, and again if that requires a login; returns its id and how its stored events end.
    nonisolated func subscribe(
        _ filter: Filter, by deadline: ContinuousClock.Instant
    ) async -> (id: String, end: QueryResult.End) {
        let id = await begin([filter])
        let end = await end(of: id, by: deadline)
        guard case .closed(let text) = end, MessagePrefix(of: text) == .authenticationRequired,
            await hasLoggedIn(by: deadline)
        else { return (id, end) }
        let again = await begin([filter])
        return (again, await self.end(of: again, by: deadline))
    }

    /// Queries stored events, and again if that requires a login. Ends with `EOSE`, `CLOSED`, or once all events in
    /// `expected` have arrived.
    nonisolated func query(
        _ filter: Filter, expecting expected: Set<EventID> = [], by deadline: ContinuousClock.Instant
    ) async -> QueryResult {
        let answer = await queryOnce(filter, expected, deadline)
        guard case .closed(let text) = answer.end, MessagePrefix(of: text) == .authenticationRequired,
            await hasLoggedIn(by: deadline)
        else { return answer }
        return await queryOnce(filter, expected, deadline)
    }

    private nonisolated func queryOnce(
        _ filter: Filter, _ expected: Set<EventID>, _ deadline: ContinuousClock.Instant
    ) async -> QueryResult {
        let id = await begin([filter])
        let end = await end(of: id, expected, by: deadline)
        // Ignores dates: the caller checks whether the relay has heeded those.
        var undated = filter
        (undated.since, undated.until) = (nil, nil)
        let events = await events(of: id).filter(undated.matches)
        await self.end(id)
        return QueryResult(events: events, end: end)
    }

    /// Waits for the end of a subscription's stored events, and returns its kind; leaves the subscription open.
    nonisolated func end(
        of id: String, _ expected: Set<EventID> = [], by deadline: ContinuousClock.Instant
    ) async -> QueryResult.End {
        let missing = Countdown(expected)
        let incoming = await received.first(by: deadline) { incoming in
            switch incoming {
            case .message(.endOfStoredEvents(id)), .message(.closed(id, _)), .ended: true
            case .message(.event(id, let event)): missing.remove(event.id)
            default: false
            }
        }
        switch incoming {
        case .message(.endOfStoredEvents): return .complete
        case .message(.closed(_, let text)): return .closed(PlainText.of(text))
        case .message: return .enough
        case .ended(let reason): return .lost(reason)
        case nil: return .unanswered
        }
    }

    private nonisolated func events(of subscription: String) async -> [Event] {
        var seen: Set<EventID> = []
        return await received.updates.compactMap { incoming in
            guard case .message(.event(subscription, let event)) = incoming, seen.insert(event.id).inserted else {
                return nil
            }
            return event
        }
    }

    /// Returns whether the login succeeds before the deadline.
    nonisolated func hasLoggedIn(by deadline: ContinuousClock.Instant) async -> Bool {
        await loginOutcome(by: deadline)?.isAccepted ?? false
    }

    /// Returns the outcome of the last login; nil without a challenge.
    nonisolated func loginOutcome(by deadline: ContinuousClock.Instant) async -> PublishOutcome? {
        // The challenge may arrive after the refusal.
        _ = await received.first(by: deadline) { incoming in
            switch incoming {
            case .message(.authentication), .ended: true
            default: false
            }
        }
        guard let id = await loginID else { return nil }
        let incoming = await received.first(by: deadline) { incoming in
            switch incoming {
            case .message(.ok(id, _, _)), .ended: true
            default: false
            }
        }
        switch incoming {
        case .message(.ok(_, true, let text)): return .accepted(PlainText.of(text))
        case .message(.ok(_, false, let text)): return .refused(PlainText.of(text))
        case .ended(let reason): return .lost(reason)
        default: return .unanswered
        }
    }
}
