import Nostr
import PikaCore

extension RelayConnection {
    /// State machine of one relay connection: inputs return the actions to perform.
    ///
    /// Sessions are numbered, one per connection attempt. Inputs for an earlier session are ignored.
    struct StateMachine {
        enum Phase: Hashable {
            /// Nothing to do, or not started yet.
            case idle
            case connecting
            case connected
            /// The session is being ended for this reason.
            case ending(Disconnection)
            case waiting
            /// Like `ending`, but no session follows.
            case closing
            case finished
        }

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
            case fetch(Int)
        }

        let relay: RelayURL
        let configuration: TransportConfiguration
        /// Whether there is a signer for NIP-42.
        let canLogIn: Bool
        var phase = Phase.idle
        var session = 0
        /// Whether the configuration names the relay.
        var isNamed = false
        /// Whether the relay is in the pool's set; otherwise the connection serves single requests only.
        var isStanding = false
        var reconnection: Reconnection
        var connectedAt: Duration?
        var heardAt = Duration.zero
        var isHeld = false
        var lastFailure: String?
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
            reconnection = Reconnection(configuration)
        }
    }
}

// MARK: Session lifecycle

extension RelayConnection.StateMachine {
    mutating func connected(session: Int, now: Moment) -> [Action] {
        guard session == self.session, phase == .connecting else { return [] }
        phase = .connected
        connectedAt = now.elapsed
        heardAt = now.elapsed
        isHeld = false
        let beat = min(configuration.pingInterval, configuration.deadPeerTimeout)
        return report(.connected) + [.schedule(.heartbeat(session: session), after: beat)]
            + subscriptions.keys.sorted().flatMap { open($0, now: now) }
            + sendUnsentRequests() + sendUnsent() + idleIfUnused()
    }

    /// Handles a failed attempt or the end of a connection.
    mutating func disconnected(
        session: Int, _ cause: Disconnection, now: Moment, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        guard session == self.session else { return [] }
        switch phase {
        case .idle, .waiting, .finished: return []
        case .closing:
            forgetSession()
            return finish()
        case .ending(let reason): return retry(after: reason, now: now, using: &generator)
        case .connecting, .connected: return retry(after: cause, now: now, using: &generator)
        }
    }

    private mutating func retry(
        after cause: Disconnection, now: Moment, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        let connectedAt = connectedAt
        forgetSession()
        lastFailure = cause.text
        guard isNeeded else {
            reconnection.ended(connectedAt: connectedAt, now: now.elapsed)
            phase = .idle
            return [.lost(cause), .becameIdle]
        }
        phase = .waiting
        let delay = reconnection.failed(
            connectedAt: connectedAt, isFlood: cause.reason == .flooded, hasEvents: publications.count > 0,
            now: now.elapsed, using: &generator)
        return [.lost(cause)] + report(.retrying(attempt: reconnection.failures, reason: cause.text))
            + [.schedule(.retry(session: session), after: delay)]
    }

    /// Closes the connection permanently, and fails everything queued for the relay.
    mutating func stop() -> [Action] {
        let resolutions = abandonAll("the connection was shut down")
        switch phase {
        case .idle, .waiting: return resolutions + finish()
        case .connecting, .connected, .ending:
            phase = .closing
            return resolutions + [.disconnect(session: session, handshake: true)]
        case .closing, .finished: return resolutions
        }
    }

    /// Ends the session without a closing handshake; another session follows.
    mutating func drop(session: Int, _ reason: Disconnection) -> [Action] {
        guard session == self.session, phase == .connected else { return [] }
        phase = .ending(reason)
        return [.disconnect(session: session, handshake: false)]
    }

    mutating func connect() -> [Action] {
        session += 1
        phase = .connecting
        return report(.connecting) + [.connect(session: session)]
    }

    /// Ends the wait for the next attempt. The timer that was set for it finds a newer session and does nothing.
    mutating func retryNow() -> [Action] {
        phase == .waiting && isNeeded ? connect() : []
    }

    private mutating func finish() -> [Action] {
        phase = .finished
        return report(.disconnected) + [.finish]
    }

    private mutating func forgetSession() {
        connectedAt = nil
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
    mutating func noteTraffic(now: Moment) {
        heardAt = now.elapsed
    }

    /// Notes that reading stops because the consumer lags: the relay's silence means nothing now.
    mutating func readingHeld() {
        isHeld = true
    }

    mutating func readingResumed(now: Moment) {
        isHeld = false
        heardAt = now.elapsed
        for wireID in pages.keys { pages[wireID]?.resetProgress() }
    }

    mutating func elapsed(_ timer: Timer, now: Moment) -> [Action] {
        switch timer {
        case .retry(let session):
            guard session == self.session, phase == .waiting else { return [] }
            if isNeeded { return connect() }
            phase = .idle
            return [.becameIdle]
        case .heartbeat(let session):
            guard session == self.session, phase == .connected else { return [] }
            return heartbeat(now: now)
        case .deadline(let instant):
            if scheduledDeadline == instant { scheduledDeadline = nil }
            let isUsed = publications.count + fetches.count > 0
            return expire(at: max(now.elapsed, instant)) + scheduleDeadline(now: now) + (isUsed ? idleIfUnused() : [])
        case .linger(let number):
            return number == lingerNumber && !isNeeded ? [.becameIdle] : []
        }
    }

    private mutating func heartbeat(now: Moment) -> [Action] {
        let silence = isHeld ? .zero : now.elapsed - heardAt
        guard silence < configuration.deadPeerTimeout else {
            return drop(
                session: session, Disconnection(.silent, "no data received for \(silence.components.seconds) s"))
        }
        surplus = 0
        let wait = min(configuration.pingInterval, configuration.deadPeerTimeout - silence)
        return abandonOverduePages(now: now) + [.ping, .schedule(.heartbeat(session: session), after: wait)]
    }

    /// Fails pages that have made no progress for too long.
    private mutating func abandonOverduePages(now: Moment) -> [Action] {
        guard !isHeld else { return [] }
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
        let reason = lastFailure.map { "no connection: \($0)" } ?? "the connection attempt timed out"
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
