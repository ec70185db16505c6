import Nostr
import PikaCore

extension RelayConnection {
    /// State machine of one relay connection: inputs return the actions to perform.
    ///
    /// ``ConnectionLifecycle`` decides when to connect, retry and ping; this machine keeps the requests.
    struct StateMachine {
        typealias Phase = ConnectionLifecycle.Phase

        enum Timer: Hashable, Sendable {
            case retry(session: Int)
            case heartbeat(session: Int)
            /// Deadline of the publish or fetch that expires first.
            case deadline(at: Duration)
            case linger(Int)
        }

        enum Action: Equatable, Sendable {
            case connect(session: Int)
            case disconnect(session: Int, handshake: Bool)
            case send(ClientMessage)
            case ping
            case logIn(challenge: String, session: Int)
            case schedule(Timer, after: Duration)
            case resolvePublish(Int, PublishReport.Outcome)
            case resolveFetch(Int, FetchOutcome)
            case emit(RelayUpdate)
            case lost(Disconnection)
            /// No reason is left to stay connected.
            case becameIdle
            case finish
        }

        enum Route: Hashable {
            case live(String)
            case page(String)
            /// A REQ of the subscription that a newer one has replaced.
            case replaced(String)
            case fetch(Int)
        }

        let relay: RelayURL
        let configuration: TransportConfiguration
        /// Whether there is a signer for NIP-42.
        let canLogIn: Bool
        var lifecycle: ConnectionLifecycle
        /// Whether the configuration names the relay.
        var isNamed = false
        /// Whether the relay is in the pool's set; otherwise the connection serves single requests only.
        var isStanding = false
        var lingerNumber = 0
        var scheduledDeadline: Duration?
        var state = RelayConnectionState.disconnected
        var login = Login()
        var subscriptions: [String: StandingSubscription] = [:]
        var publications = Publications()
        var fetches = Fetches()
        var routes: [String: Route] = [:]
        /// Requests whose stored events are still arriving.
        var pages: [String: OpenPage] = [:]
        /// Bytes of unrequested events since the last heartbeat.
        var surplus = 0
        var nextWireID = 1

        init(relay: RelayURL, configuration: TransportConfiguration, canLogIn: Bool) {
            self.relay = relay
            self.configuration = configuration
            self.canLogIn = canLogIn
            lifecycle = ConnectionLifecycle(configuration)
        }

        var phase: Phase { lifecycle.phase }
        var session: Int { lifecycle.session }
    }
}

// MARK: Session lifecycle

extension RelayConnection.StateMachine {
    mutating func connected(session: Int, now: Moment) -> [Action] {
        guard let steps = lifecycle.connected(session: session, now: now.elapsed) else { return [] }
        return actions(steps)
            + subscriptions.keys.sorted().flatMap { open($0, now: now) }
            + sendUnsentRequests() + sendUnsent() + idleIfUnused()
    }

    /// Handles a failed attempt or the end of a connection.
    mutating func disconnected(
        session: Int, _ cause: Disconnection, now: Moment, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        let steps = lifecycle.disconnected(
            session: session, cause, isNeeded: isNeeded, hasQueued: publications.count > 0, now: now.elapsed,
            using: &generator)
        guard let steps else { return [] }
        forgetSession()
        return actions(steps)
    }

    /// Closes the connection permanently, and fails everything queued for the relay.
    mutating func stop() -> [Action] {
        abandonAll("the connection was shut down") + actions(lifecycle.stop())
    }

    /// Ends the session without a closing handshake; another session follows.
    mutating func drop(session: Int, _ reason: Disconnection) -> [Action] {
        actions(lifecycle.drop(session: session, reason))
    }

    mutating func connect() -> [Action] { actions(lifecycle.connect()) }

    /// Ends the wait for the next attempt.
    mutating func retryNow() -> [Action] { isNeeded ? actions(lifecycle.retryNow()) : [] }

    mutating func actions(_ steps: [ConnectionLifecycle.Step]) -> [Action] {
        var actions: [Action] = []
        for step in steps {
            switch step {
            case .connect(let session): actions.append(.connect(session: session))
            case .disconnect(let session, let handshake):
                actions.append(.disconnect(session: session, handshake: handshake))
            case .ping: actions.append(.ping)
            case .schedule(.retry(let session), let wait):
                actions.append(.schedule(.retry(session: session), after: wait))
            case .schedule(.heartbeat(let session), let wait):
                actions.append(.schedule(.heartbeat(session: session), after: wait))
            case .changed(let state): actions += report(state)
            case .lost(let reason): actions.append(.lost(reason))
            case .becameIdle: actions.append(.becameIdle)
            case .finish: actions.append(.finish)
            }
        }
        return actions
    }

    private mutating func forgetSession() {
        routes = [:]
        pages = [:]
        surplus = 0
        login = Login()
        for id in subscriptions.keys { subscriptions[id]?.connectionLost() }
        publications.connectionLost()
        fetches.connectionLost()
    }

    /// Reports the connection's state, unless the relay is outside the set.
    mutating func report(_ state: RelayConnectionState) -> [Action] {
        self.state = state
        return isStanding ? [.emit(.state(relay: relay, state))] : []
    }
}

// MARK: Timers

extension RelayConnection.StateMachine {
    /// Notes that the relay sent something.
    mutating func noteTraffic(now: Moment) { lifecycle.noteTraffic(now: now.elapsed) }

    /// Notes that reading stops because the consumer lags: the relay's silence means nothing now.
    mutating func readingHeld() { lifecycle.readingHeld() }

    mutating func readingResumed(now: Moment) {
        lifecycle.readingResumed(now: now.elapsed)
        for wireID in pages.keys { pages[wireID]?.resetProgress() }
    }

    mutating func elapsed(_ timer: Timer, now: Moment) -> [Action] {
        switch timer {
        case .retry(let session):
            return actions(lifecycle.elapsed(.retry(session: session), isNeeded: isNeeded, now: now.elapsed))
        case .heartbeat(let session):
            let steps = lifecycle.elapsed(.heartbeat(session: session), isNeeded: isNeeded, now: now.elapsed)
            guard steps.contains(.ping) else { return actions(steps) }
            surplus = 0
            return abandonOverduePages(now: now) + actions(steps)
        case .deadline(let instant):
            if scheduledDeadline == instant { scheduledDeadline = nil }
            let isUsed = publications.count + fetches.count > 0
            return expire(at: max(now.elapsed, instant)) + scheduleDeadline(now: now) + (isUsed ? idleIfUnused() : [])
        case .linger(let number):
            return number == lingerNumber && !isNeeded ? [.becameIdle] : []
        }
    }

    /// Fails pages that have made no progress for too long.
    private mutating func abandonOverduePages(now: Moment) -> [Action] {
        guard !lifecycle.isHeld else { return [] }
        var overdue: [String] = []
        for wireID in pages.keys
        where pages[wireID]?.isOverdue(now: now.elapsed, timeout: configuration.pageTimeout) == true {
            overdue.append(wireID)
        }
        return overdue.sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }.flatMap {
            abandonPage($0, "the relay did not end its stored events")
        }
    }

    private mutating func expire(at now: Duration) -> [Action] {
        let reason = lifecycle.lastFailure.map { "no connection: \($0)" } ?? "the connection attempt timed out"
        let unreachable = phase == .connected ? "timed out waiting for a response" : reason
        return publications.expire(at: now, unreachable: unreachable).map { .resolvePublish($0.number, $0.outcome) }
            + fetches.expire(at: now, unreachable: unreachable).flatMap { resolution, wireID -> [Action] in
                (wireID.map { closeWire($0) } ?? []) + [.resolveFetch(resolution.number, resolution.outcome)]
            }
    }

    /// Schedules one timer for all deadlines, and another one only for an earlier deadline.
    mutating func scheduleDeadline(now: Moment) -> [Action] {
        let deadlines = [publications.nextDeadline, fetches.nextDeadline].compactMap { $0 }
        guard let next = deadlines.min(), next < scheduledDeadline ?? .seconds(Int64.max) else { return [] }
        scheduledDeadline = next
        return [.schedule(.deadline(at: next), after: max(.zero, next - now.elapsed))]
    }
}
