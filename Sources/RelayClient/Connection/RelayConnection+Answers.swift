import Nostr
import PikaCore

// MARK: Messages from the relay

extension RelayConnection.StateMachine {
    /// - Parameters:
    ///   - message: A message whose event, if any, was verified.
    ///   - bytes: Size of the message.
    mutating func received(_ message: RelayMessage, bytes: Int, session: Int, now: Moment) -> [Action] {
        guard session == self.session, phase == .connected else { return [] }
        noteTraffic(now: now)
        switch message {
        case .event(let wireID, let event): return receivedEvent(event, bytes, wireID, now)
        case .ok(let id, let accepted, let message): return answered(id, accepted, message, now)
        case .endOfStoredEvents(let wireID): return endOfStoredEvents(wireID)
        case .closed(let wireID, let message): return closed(wireID, message, now)
        case .authentication(let challenge):
            guard canLogIn, let challenge = login.challenged(challenge) else { return [] }
            // A login discloses the account to the relay, so only relays that the account has chosen get one.
            guard isStanding || isNamed else {
                login.withhold()
                return loginFailed()
            }
            return [.logIn(challenge: challenge, session: session)]
        case .notice, .count: return []
        }
    }

    /// Handles the signer's answer to a challenge; nil declines the login.
    mutating func signed(_ event: Event?, challenge: String, session: Int) -> [Action] {
        guard session == self.session, phase == .connected else { return [] }
        if login.signed(event, challenge: challenge), let event { return [.send(.authenticate(event))] }
        return login.stage == .failed ? loginFailed() : []
    }

    private mutating func receivedEvent(
        _ event: Event, _ bytes: Int, _ wireID: String, _ now: Moment
    ) -> [Action] {
        switch routes[wireID] {
        case .live(let id), .page(let id):
            if let answers = echoed(event, on: id) { return answers }
            switch subscriptions[id]?.received(event, now: now.unixTime) {
            case .unrequested, nil: return [unrequested] + countSurplus(bytes)
            case .new:
                return [.emit(.event(relay: relay, subscription: id, event))] + count(bytes, isNew: true, on: wireID)
            case .repeated:
                return [.emit(.event(relay: relay, subscription: id, event))] + count(bytes, isNew: false, on: wireID)
                    + countSurplus(bytes)
            }
        case .replaced(let id):
            // Events that only the former filters match were in flight, and are legitimate.
            guard subscriptions[id]?.request.filters.contains(where: { $0.matches(event) }) == true else {
                return countSurplus(bytes)
            }
            return [.emit(.event(relay: relay, subscription: id, event))]
        case .fetch(let number):
            switch fetches.received(event, bytes: bytes, for: number, atMost: configuration.fetchedBytes) {
            case .new, .known: return count(bytes, isNew: true, on: wireID)
            case .repeated: return count(bytes, isNew: false, on: wireID) + countSurplus(bytes)
            case .unrequested: return [unrequested] + countSurplus(bytes)
            case .tooMuch:
                let failure = fetches.fail(number, "the response is too large")
                return closeWire(wireID) + resolve([failure].compactMap { $0 })
            }
        // Events in flight when the request was ended are legitimate.
        case nil: return (wasUsed(wireID) ? [] : [unrequested]) + countSurplus(bytes)
        }
    }

    /// Handles the echo of an event that was published on this connection; nil for other events, and for subscriptions
    /// that want echoes or still receive stored events.
    private mutating func echoed(_ event: Event, on id: String) -> [Action]? {
        guard let subscription = subscriptions[id], subscription.request.omitsEchoes, subscription.stage == .live,
            let answers = publications.echoed(event.id)
        else { return nil }
        return answers.map { .resolvePublish($0.number, $0.outcome) } + (answers.isEmpty ? [] : idleIfUnused())
    }

    /// Counts an event of an open page, and abandons a page that exceeds its bounds.
    private mutating func count(_ bytes: Int, isNew: Bool, on wireID: String) -> [Action] {
        guard pages[wireID]?.receive(bytes: bytes, isNew: isNew, within: configuration) == false else { return [] }
        return abandonPage(wireID, "the response is too large")
    }

    /// Counts an event that was not requested, and drops a relay that sends too many of them.
    private mutating func countSurplus(_ bytes: Int) -> [Action] {
        surplus += min(bytes, configuration.surplusBytes)
        guard surplus > configuration.surplusBytes else { return [] }
        return drop(session: session, Disconnection(.flooded, "the relay sends too many unrequested events"))
    }

    /// Marks the page as failed at this relay. A standing subscription continues with new events.
    mutating func abandonPage(_ wireID: String, _ reason: String) -> [Action] {
        guard pages.removeValue(forKey: wireID) != nil else { return [] }
        switch routes[wireID] {
        case .live(let id):
            subscriptions[id]?.abandonPage()
            return closeReplaced(id) + [endlessPage]
        case .page(let id):
            subscriptions[id]?.abandonPage()
            return closeWire(wireID) + [endlessPage]
        case .fetch(let number):
            let failure = fetches.fail(number, reason)
            return closeWire(wireID) + [endlessPage] + resolve([failure].compactMap { $0 })
        case .replaced, nil: return []
        }
    }

    private mutating func endOfStoredEvents(_ wireID: String) -> [Action] {
        if routes[wireID] != nil { lifecycle.answered() }
        pages[wireID] = nil
        switch routes[wireID] {
        case .live(let id):
            guard let subscription = subscriptions[id], subscription.pageWireID == nil else { return [] }
            switch subscription.stage {
            case .catchingUp: return closeReplaced(id) + nextPage(of: id)
            case .overdue: return subscriptions[id]?.ended() == true ? [ended(id)] : []
            case .closed, .needsLogin, .live: return []
            }
        case .page(let id):
            subscriptions[id]?.pageWireID = nil
            return closeWire(wireID) + nextPage(of: id)
        case .fetch(let number):
            let answer = fetches.endOfPage(number)
            return closeWire(wireID) + resolve([answer].compactMap { $0 }) + sendUnsentRequests()
        case .replaced(let id): return closeReplaced(id, before: wireID)
        case nil: return []
        }
    }

    private mutating func nextPage(of id: String) -> [Action] {
        guard let filters = subscriptions[id]?.endOfPage() else {
            return (subscriptions[id]?.stage == .overdue ? [endlessPage] : []) + [ended(id)]
        }
        let wireID = newWireID(.page(id))
        subscriptions[id]?.pageWireID = wireID
        return [.send(.request(subscription: wireID, filters: filters))]
    }

    private mutating func closed(_ wireID: String, _ message: String, _ now: Moment) -> [Action] {
        let route = routes.removeValue(forKey: wireID)
        pages[wireID] = nil
        switch route {
        case .live(let id), .page(let id):
            let other = [subscriptions[id]?.wireID, subscriptions[id]?.pageWireID].compactMap { $0 }
                .filter { $0 != wireID }.flatMap { closeWire($0) }
            let wantsLogin = MessagePrefix(of: message) == .authenticationRequired
            let awaitsLogin = wantsLogin && mayLogIn
            // A relay at its limit of subscriptions accepts the REQ once the replaced ones are closed.
            let replaced = closeReplaced(id)
            if !replaced.isEmpty, !wantsLogin { return replaced + other + open(id, now: now) }
            subscriptions[id]?.closed(awaitsLogin: awaitsLogin)
            return replaced + other + [.emit(.closed(relay: relay, subscription: id, message: message))]
                + resumeIfLoggedIn(now)
        case .replaced(let id):
            subscriptions[id]?.replaced.remove(wireID)
            return []
        case .fetch(let number):
            let failure = fetches.closed(number, message: message, canLogIn: mayLogIn)
            return resolve([failure].compactMap { $0 }) + resumeIfLoggedIn(now)
        case nil: return []
        }
    }

    private mutating func answered(
        _ id: EventID?, _ accepted: Bool, _ message: String, _ now: Moment
    ) -> [Action] {
        switch login.answered(id, accepted: accepted) {
        case true: return resumeIfLoggedIn(now)
        case false: return loginFailed()
        case nil:
            if accepted { lifecycle.answered() }
            let answers = publications.answered(id, accepted: accepted, message: message, canLogIn: mayLogIn)
            let resolutions: [Action] = answers.map { .resolvePublish($0.number, $0.outcome) }
            return resolutions + (answers.isEmpty ? [] : idleIfUnused()) + resumeIfLoggedIn(now)
        }
    }

    // MARK: Login

    private var mayLogIn: Bool { canLogIn && login.isPossible }

    /// Resends requests that were refused because they required a login.
    private mutating func resumeIfLoggedIn(_ now: Moment) -> [Action] {
        guard login.stage == .accepted else { return [] }
        publications.loggedIn()
        fetches.loggedIn()
        let refused = subscriptions.values.filter { $0.stage == .needsLogin }.map(\.request.id).sorted()
        return refused.flatMap { open($0, now: now) } + sendUnsentRequests() + sendUnsent()
    }

    private mutating func loginFailed() -> [Action] {
        let refused = publications.loginFailed()
        return refused.map { .resolvePublish($0.number, $0.outcome) } + resolve(fetches.loginFailed())
            + (refused.isEmpty ? [] : idleIfUnused())
    }

    private mutating func resolve(_ answers: [Fetches.Resolution]) -> [Action] {
        guard !answers.isEmpty else { return [] }
        return answers.map { .resolveFetch($0.number, $0.outcome) } + idleIfUnused()
    }

    private func ended(_ id: String) -> Action { .emit(.endOfStoredEvents(relay: relay, subscription: id)) }

    private var endlessPage: Action {
        .emit(.refused(relay: relay, reason: RefusalReason.endlessPage.rawValue))
    }

    private var unrequested: Action {
        .emit(.refused(relay: relay, reason: RefusalReason.unrequested.rawValue))
    }
}
