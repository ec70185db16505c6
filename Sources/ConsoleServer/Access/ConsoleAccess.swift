import ConsolePages
import Foundation
import Nostr
import PikaCore
import Synchronization

/// All that the server remembers about its clients. Lost at a restart, which ends every session.
final class ConsoleAccess: Sendable {
    /// A session as a request knows it.
    struct Visit: Sendable, Hashable {
        let session: ConsoleSessions.Session
        /// The fingerprint of the cookie's token.
        let key: Data

        var viewer: Viewer { session.viewer }
    }

    /// The outcome of a login.
    enum Login: Sendable, Hashable {
        /// - Parameter cookie: the token of the session's cookie.
        case admitted(Visit, cookie: String)
        case refused(String)
        case delayed(seconds: Int64)
    }

    /// The client that a request counts for.
    private enum Client: Sendable, Hashable {
        /// The fingerprint of a session's token.
        case session(Data)
        case address(String)
    }

    /// The requests of one client. A page with its files needs four.
    private static let requestLimit = RateLimit(120, per: .seconds(6))

    private struct State: Sendable {
        var sessions = ConsoleSessions()
        var logins = LoginLimiter()
        var keys = KeyLogins()
        var requests = RateLimiter<Client>(capacity: 1_024)
        var streams = StreamSlots()
        var generator = SystemRandomNumberGenerator()
    }

    private let clock: ConsoleClock
    private let state = Mutex(State())

    init(clock: ConsoleClock) {
        self.clock = clock
    }

    // MARK: Logins

    /// Creates a one-time link; returns its token.
    func invite(_ name: String, _ role: ConsoleRole) -> String {
        let now = clock.milliseconds()
        return state.withLock { $0.sessions.invite(name, role, now: now, using: &$0.generator) }
    }

    /// Logs in by the token of a link.
    func redeem(_ token: String?, from address: String) -> Login {
        let now = clock.milliseconds()
        return state.withLock { state in
            if let seconds = state.logins.delay(of: address, now: now) { return .delayed(seconds: seconds) }
            guard let token, let cookie = state.sessions.redeem(token, now: now, using: &state.generator) else {
                state.logins.noteFailure(of: address, now: now)
                return .refused(
                    "The link was used before, or is older than \(ConsoleSessions.linkLifetime / 60_000) minutes. Run pikabot console FILE for another one."
                )
            }
            return Self.admitted(cookie, state, now)
        }
    }

    /// Logs in by a signed event.
    ///
    /// - Parameters:
    ///   - header: the value of `Authorization`.
    ///   - urls: the addresses under which browsers know the login.
    func logIn(_ header: String?, urls: [String], settings: ConsoleSettings, from address: String) -> Login {
        let now = clock.milliseconds()
        let time = UnixTime(clock.unixSeconds())
        return state.withLock { state in
            if let seconds = state.logins.delay(of: address, now: now) { return .delayed(seconds: seconds) }
            switch state.keys.judge(header ?? "", urls: urls, settings: settings, now: time) {
            case .refused(let reason):
                state.logins.noteFailure(of: address, now: now)
                return .refused(reason)
            case .admitted(let key, let role):
                let cookie = state.sessions.open(key.npub, role, now: now, using: &state.generator)
                return Self.admitted(cookie, state, now)
            }
        }
    }

    private static func admitted(_ cookie: String, _ state: borrowing State, _ now: Int64) -> Login {
        guard let session = state.sessions.session(cookie, now: now) else {
            return .refused("The session could not be opened.")
        }
        return .admitted(Visit(session: session, key: ConsoleToken.fingerprint(cookie)), cookie: cookie)
    }

    // MARK: Sessions

    /// Returns the session of a cookie's token; nil for an unknown or ended one.
    func visit(_ cookie: String?) -> Visit? {
        guard let cookie else { return nil }
        let now = clock.milliseconds()
        let session = state.withLock { $0.sessions.session(cookie, now: now) }
        return session.map { Visit(session: $0, key: ConsoleToken.fingerprint(cookie)) }
    }

    /// Returns whether a session that was found earlier is still open.
    func isOpen(_ visit: Visit) -> Bool {
        let now = clock.milliseconds()
        return state.withLock { $0.sessions.isOpen(visit.key, now: now) }
    }

    func end(_ visit: Visit) { state.withLock { $0.sessions.end(visit.key) } }

    // MARK: Limits

    /// Counts a request; returns the seconds to wait if it is one too many.
    func delay(of visit: Visit?, at address: String) -> Int64? {
        let now = clock.milliseconds()
        let client: Client = visit.map { .session($0.key) } ?? .address(address)
        let isAdmitted = state.withLock { $0.requests.consume(client, Self.requestLimit, nowMilliseconds: now) }
        return isAdmitted ? nil : 1
    }

    func openStream(_ visit: Visit) -> Bool { state.withLock { $0.streams.open(visit.key) } }

    func closeStream(_ visit: Visit) { state.withLock { $0.streams.close(visit.key) } }
}
