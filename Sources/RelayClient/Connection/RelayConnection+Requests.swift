import Nostr
import PikaCore

// MARK: Requests of the pool

extension RelayConnection.StateMachine {
    /// Adds the relay to the set of relays or removes it.
    mutating func setStanding(_ standing: Bool) -> [Action] {
        guard standing != isStanding, phase != .closing, phase != .finished else { return [] }
        if standing {
            isStanding = true
            lingerNumber += 1
            if phase == .idle { return connect() }
            let challenge = phase == .connected ? login.resume() : nil
            return [.emit(.state(relay: relay, state))]
                + (challenge.map { [.logIn(challenge: $0, session: session)] } ?? [])
        }
        isStanding = false
        let closes = subscriptions.keys.sorted().flatMap { unsubscribe($0) }
        return closes + [.emit(.state(relay: relay, .disconnected))] + (isNeeded ? [] : [.becameIdle])
    }

    mutating func subscribe(_ request: RelaySubscription, now: Moment) -> [Action] {
        guard !request.filters.isEmpty else { return unsubscribe(request.id) }
        let former = subscriptions.updateValue(StandingSubscription(request), forKey: request.id)
        let opens = phase == .connected ? open(request.id, now: now) : []
        return opens + (former.map { replace($0) } ?? [])
    }

    /// Keeps the former REQ of a subscription until the new one's stored events have arrived.
    private mutating func replace(_ former: StandingSubscription) -> [Action] {
        let id = former.request.id
        subscriptions[id]?.replaced = former.replaced
        let page = former.pageWireID.map { closeWire($0) } ?? []
        guard let wireID = former.wireID else { return page }
        routes[wireID] = .replaced(id)
        pages[wireID] = nil
        return page + close([subscriptions[id]?.replaced.append(wireID)].compactMap { $0 }, replacedIn: id)
    }

    mutating func unsubscribe(_ id: String) -> [Action] {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return [] }
        let open = subscription.replaced.open + [subscription.wireID, subscription.pageWireID].compactMap { $0 }
        for wireID in subscription.replaced.all { routes[wireID] = nil }
        return open.flatMap { closeWire($0) }
    }

    mutating func publish(_ number: Int, _ event: Event, deadline: Duration, now: Moment) -> [Action] {
        guard phase != .closing, phase != .finished else {
            return [.resolvePublish(number, .unreachable("the connection was shut down"))]
        }
        guard publications.count < configuration.unansweredEvents else {
            return [.resolvePublish(number, .unreachable("too many events are waiting for this relay"))]
        }
        lingerNumber += 1
        publications.add(Publications.Entry(number: number, event: event, deadline: deadline))
        return scheduleDeadline(now: now) + (phase == .connected ? sendUnsent() : connectSoon(now: now))
    }

    mutating func fetch(_ number: Int, _ filters: [Filter], deadline: Duration, now: Moment) -> [Action] {
        guard phase != .closing, phase != .finished else {
            return [.resolveFetch(number, .failed("the connection was shut down"))]
        }
        lingerNumber += 1
        let query = StoredQuery(filters, smallestCap: configuration.smallestCap)
        fetches.add(Fetches.Entry(number: number, deadline: deadline, query: query))
        return scheduleDeadline(now: now) + (phase == .connected ? sendUnsentRequests() : connectIfIdle())
    }

    /// Whether there is a reason to stay connected.
    var isNeeded: Bool { isStanding || publications.count > 0 || fetches.count > 0 }

    /// Schedules the end of an unused connection to a relay outside the set.
    mutating func idleIfUnused() -> [Action] {
        guard !isNeeded else { return [] }
        switch phase {
        case .connected:
            lingerNumber += 1
            return [.schedule(.linger(lingerNumber), after: configuration.lingering)]
        case .idle, .waiting: return [.becameIdle]
        case .connecting, .ending, .closing, .finished: return []
        }
    }

    mutating func abandonAll(_ reason: String) -> [Action] {
        publications.abandonAll(reason).map { .resolvePublish($0.number, $0.outcome) }
            + fetches.abandonAll(reason).map { .resolveFetch($0.number, $0.outcome) }
    }

    /// Shortens the back-off, because an event is queued.
    private mutating func connectSoon(now: Moment) -> [Action] {
        guard let steps = lifecycle.connectSoon(now: now.elapsed) else { return connectIfIdle() }
        return actions(steps)
    }

    private mutating func connectIfIdle() -> [Action] { actions(lifecycle.connectIfIdle()) }
}

// MARK: Messages to the relay

extension RelayConnection.StateMachine {
    mutating func open(_ id: String, now: Moment) -> [Action] {
        let wireID = newWireID(.live(id))
        guard
            let filters = subscriptions[id]?.open(smallestCap: configuration.smallestCap, now: now.unixTime)
        else { return [] }
        subscriptions[id]?.wireID = wireID
        return [.send(.request(subscription: wireID, filters: filters))]
    }

    /// Ends the replaced REQs of a subscription, or those before one of them.
    mutating func closeReplaced(_ id: String, before wireID: String? = nil) -> [Action] {
        close(subscriptions[id]?.replaced.close(before: wireID) ?? [], replacedIn: id)
    }

    /// Sends CLOSE for replaced REQs. Their events in flight are still delivered.
    private mutating func close(_ wireIDs: [String], replacedIn id: String) -> [Action] {
        for wireID in subscriptions[id]?.replaced.forgetSurplus() ?? [] { routes[wireID] = nil }
        return wireIDs.map { .send(.close(subscription: $0)) }
    }

    mutating func sendUnsentRequests() -> [Action] {
        fetches.unsent.map { number in
            let wireID = newWireID(.fetch(number))
            return .send(.request(subscription: wireID, filters: fetches.markSent(number, as: wireID)))
        }
    }

    mutating func sendUnsent() -> [Action] {
        publications.dequeueUnsent().map { .send(.event($0)) }
    }

    mutating func closeWire(_ wireID: String) -> [Action] {
        routes[wireID] = nil
        pages[wireID] = nil
        return phase == .connected ? [.send(.close(subscription: wireID))] : []
    }

    /// Returns a new subscription id for each REQ, so that late answers to an earlier REQ are recognised.
    mutating func newWireID(_ route: Route) -> String {
        defer { nextWireID += 1 }
        let wireID = String(nextWireID)
        routes[wireID] = route
        pages[wireID] = OpenPage()
        return wireID
    }

    func wasUsed(_ wireID: String) -> Bool {
        guard let number = Int(wireID), String(number) == wireID else { return false }
        return (1..<nextWireID).contains(number)
    }
}
