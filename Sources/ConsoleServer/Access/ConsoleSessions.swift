import ConsolePages
import Foundation

/// One-time links and the sessions that they open. Pure: time and randomness are arguments.
///
/// Times are milliseconds of a clock that only rises.
struct ConsoleSessions: Sendable {
    struct Session: Sendable, Hashable {
        let name: String
        let role: ConsoleRole
        /// The token that its forms carry.
        let formToken: String
        let endsAt: Int64

        var viewer: Viewer { Viewer(name: name, role: role, formToken: formToken) }
    }

    private struct Link: Sendable {
        let name: String
        let role: ConsoleRole
        let endsAt: Int64
    }

    static let linkLifetime: Int64 = 5 * 60 * 1_000
    static let sessionLifetime: Int64 = 12 * 3_600 * 1_000
    /// Beyond these, the ones that end first are dropped.
    static let maximumLinks = 16
    static let maximumSessions = 64
    /// Characters of a name.
    static let longestName = 64

    /// By the fingerprints of their tokens.
    private var links: [Data: Link] = [:]
    private var sessions: [Data: Session] = [:]

    var linkCount: Int { links.count }
    var sessionCount: Int { sessions.count }

    /// Creates a link; returns its token.
    mutating func invite(
        _ name: String, _ role: ConsoleRole, now: Int64, using generator: inout some RandomNumberGenerator
    ) -> String {
        expire(now)
        let token = ConsoleToken(using: &generator).text
        if links.count >= Self.maximumLinks, let first = links.min(by: { $0.value.endsAt < $1.value.endsAt }) {
            links[first.key] = nil
        }
        links[ConsoleToken.fingerprint(token)] = Link(
            name: Self.shortened(name), role: role, endsAt: now + Self.linkLifetime)
        return token
    }

    /// Uses up a link and opens its session; returns the token of its cookie. Nil for an unknown, used or old link.
    mutating func redeem(
        _ token: String, now: Int64, using generator: inout some RandomNumberGenerator
    ) -> String? {
        expire(now)
        guard let link = links.removeValue(forKey: ConsoleToken.fingerprint(token)) else { return nil }
        return open(link.name, link.role, now: now, using: &generator)
    }

    /// Opens a session; returns the token of its cookie.
    mutating func open(
        _ name: String, _ role: ConsoleRole, now: Int64, using generator: inout some RandomNumberGenerator
    ) -> String {
        expire(now)
        let cookie = ConsoleToken(using: &generator).text
        if sessions.count >= Self.maximumSessions,
            let first = sessions.min(by: { $0.value.endsAt < $1.value.endsAt })
        {
            sessions[first.key] = nil
        }
        sessions[ConsoleToken.fingerprint(cookie)] = Session(
            name: Self.shortened(name), role: role, formToken: ConsoleToken(using: &generator).text,
            endsAt: now + Self.sessionLifetime)
        return cookie
    }

    /// Returns the session of a cookie; nil for an unknown or ended one.
    func session(_ cookie: String, now: Int64) -> Session? {
        guard let session = sessions[ConsoleToken.fingerprint(cookie)], session.endsAt > now else { return nil }
        return session
    }

    /// Returns whether the session of a token's fingerprint has not ended.
    func isOpen(_ fingerprint: Data, now: Int64) -> Bool { sessions[fingerprint].map { $0.endsAt > now } ?? false }

    /// Ends the session of a token's fingerprint.
    mutating func end(_ fingerprint: Data) { sessions[fingerprint] = nil }

    /// Returns whether a form carries the token of its session.
    static func admits(_ token: String?, in session: Session) -> Bool {
        guard let token else { return false }
        // Equal fingerprints; comparing the texts would take a time that depends on the token.
        return ConsoleToken.fingerprint(token) == ConsoleToken.fingerprint(session.formToken)
    }

    private mutating func expire(_ now: Int64) {
        links = links.filter { $0.value.endsAt > now }
        sessions = sessions.filter { $0.value.endsAt > now }
    }

    private static func shortened(_ name: String) -> String {
        let text = String(String.UnicodeScalarView(name.unicodeScalars.prefix(longestName)))
        return text.isEmpty ? "operator" : text
    }
}
