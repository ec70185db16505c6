package import PikaCore

/// Lifecycle of a connection that is made again when it is lost, whatever travels over it: disconnected, connecting,
/// connected, retrying.
///
/// A pure value: each input returns the steps to perform, in order. Sessions are numbered, one per connection attempt;
/// inputs for an earlier session are ignored. The owner says with each input whether the connection is still needed,
/// and forgets what belongs to a lost session.
package struct ConnectionLifecycle: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
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

    package enum Timer: Hashable, Sendable {
        case retry(session: Int)
        case heartbeat(session: Int)
    }

    package enum Step: Hashable, Sendable {
        case connect(session: Int)
        case disconnect(session: Int, handshake: Bool)
        case ping
        case schedule(Timer, after: Duration)
        case changed(RelayConnectionState)
        case lost(Disconnection)
        /// No reason is left to stay connected.
        case becameIdle
        case finish
    }

    package private(set) var phase = Phase.idle
    package private(set) var session = 0
    /// Description of the last lost session or failed attempt.
    package private(set) var lastFailure: String?
    /// Whether reading stops because the consumer lags: the peer's silence means nothing then.
    package private(set) var isHeld = false
    private var reconnection: Reconnection
    private var connectedAt: Duration?
    private var heardAt = Duration.zero
    private let pingInterval: Duration
    private let deadPeerTimeout: Duration

    package init(_ configuration: TransportConfiguration) {
        reconnection = Reconnection(configuration)
        pingInterval = configuration.pingInterval
        deadPeerTimeout = configuration.deadPeerTimeout
    }

    // MARK: Sessions

    /// Begins an attempt.
    package mutating func connect() -> [Step] {
        // The number of attempts of one process; far from overflow.
        session += 1
        phase = .connecting
        return [.changed(.connecting), .connect(session: session)]
    }

    /// Begins an attempt unless one is running or planned.
    package mutating func connectIfIdle() -> [Step] { phase == .idle ? connect() : [] }

    /// Ends the wait for the next attempt. The timer that was set for it finds a newer session and does nothing.
    package mutating func retryNow() -> [Step] { phase == .waiting ? connect() : [] }

    /// Moves the next attempt forward, because something is queued; nil if none is planned or it stays.
    package mutating func connectSoon(now: Duration) -> [Step]? {
        guard phase == .waiting, let wait = reconnection.advanceAttempt(now: now) else { return nil }
        return wait == .zero ? connect() : [.schedule(.retry(session: session), after: wait)]
    }

    /// Handles a successful attempt; returns nil if the session is over.
    package mutating func connected(session: Int, now: Duration) -> [Step]? {
        guard session == self.session, phase == .connecting else { return nil }
        phase = .connected
        connectedAt = now
        heardAt = now
        isHeld = false
        let beat = min(pingInterval, deadPeerTimeout)
        return [.changed(.connected), .schedule(.heartbeat(session: session), after: beat)]
    }

    /// Handles a failed attempt or the end of a connection; returns nil if no session was open.
    ///
    /// - Parameters:
    ///   - isNeeded: Whether another session is to follow.
    ///   - hasQueued: Whether something is queued, which shortens the wait.
    package mutating func disconnected(
        session: Int, _ cause: Disconnection, isNeeded: Bool, hasQueued: Bool, now: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> [Step]? {
        guard session == self.session else { return nil }
        let reason: Disconnection
        switch phase {
        case .idle, .waiting, .finished: return nil
        case .closing:
            connectedAt = nil
            return finish()
        case .ending(let known): reason = known
        case .connecting, .connected: reason = cause
        }
        let began = connectedAt
        connectedAt = nil
        lastFailure = reason.text
        guard isNeeded else {
            reconnection.ended(connectedAt: began, now: now)
            phase = .idle
            return [.lost(reason), .becameIdle]
        }
        phase = .waiting
        let delay = reconnection.failed(
            connectedAt: began, isFlood: reason.reason == .flooded, hasEvents: hasQueued, now: now, using: &generator)
        return [
            .lost(reason), .changed(.retrying(attempt: reconnection.failures, reason: reason.text)),
            .schedule(.retry(session: self.session), after: delay),
        ]
    }

    /// Ends the session without a closing handshake; another session follows.
    package mutating func drop(session: Int, _ reason: Disconnection) -> [Step] {
        guard session == self.session, phase == .connected else { return [] }
        phase = .ending(reason)
        return [.disconnect(session: session, handshake: false)]
    }

    /// Closes the connection permanently.
    package mutating func stop() -> [Step] {
        switch phase {
        case .idle, .waiting: return finish()
        case .connecting, .connected, .ending:
            phase = .closing
            return [.disconnect(session: session, handshake: true)]
        case .closing, .finished: return []
        }
    }

    private mutating func finish() -> [Step] {
        phase = .finished
        return [.changed(.disconnected), .finish]
    }

    // MARK: Liveness

    /// Notes that the peer has done what it is for, such as answering a request: that resets the back-off.
    package mutating func answered() { reconnection.answered() }

    /// Notes that the peer sent something.
    package mutating func noteTraffic(now: Duration) { heardAt = now }

    package mutating func readingHeld() { isHeld = true }

    package mutating func readingResumed(now: Duration) {
        isHeld = false
        heardAt = now
    }

    package mutating func elapsed(_ timer: Timer, isNeeded: Bool, now: Duration) -> [Step] {
        switch timer {
        case .retry(let session):
            guard session == self.session, phase == .waiting else { return [] }
            if isNeeded { return connect() }
            phase = .idle
            return [.becameIdle]
        case .heartbeat(let session):
            guard session == self.session, phase == .connected else { return [] }
            let silence = isHeld ? .zero : now - heardAt
            guard silence < deadPeerTimeout else {
                let seconds = silence.components.seconds
                return drop(session: session, Disconnection(.silent, "no data received for \(seconds) s"))
            }
            let wait = min(pingInterval, deadPeerTimeout - silence)
            return [.ping, .schedule(.heartbeat(session: session), after: wait)]
        }
    }
}
