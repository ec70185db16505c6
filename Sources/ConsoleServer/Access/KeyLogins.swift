import ConsolePages
import Nostr

/// Logins by signed events (NIP-98): each event counts once. Pure.
struct KeyLogins: Sendable {
    enum Verdict: Sendable, Hashable {
        case admitted(PublicKey, ConsoleRole)
        /// Refused, with the reason.
        case refused(String)
    }

    /// Events that are remembered; beyond it logins are refused until the oldest are too old to be repeated.
    static let maximumEvents = 256

    /// The ids of used events, and the Unix seconds until which they could be repeated.
    private var used: [EventID: Int64] = [:]

    var usedCount: Int { used.count }

    /// - Parameters:
    ///   - header: the value of `Authorization`.
    ///   - urls: the addresses under which browsers know the login.
    mutating func judge(_ header: String, urls: [String], settings: ConsoleSettings, now: UnixTime) -> Verdict {
        used = used.filter { $0.value >= now.seconds }
        // An event of an extension has less than 2 KiB.
        guard header.utf8.count <= 8_192 else { return .refused("the authentication is too long") }
        let event: Event
        do throws(NostrError) {
            event = try HTTPAuthentication.event(header: header)
            let url = urls.first { event.firstTag("u")?.value == $0 } ?? urls.first ?? ""
            try HTTPAuthentication.verify(event, url: url, method: "POST", now: now)
        } catch {
            return .refused(error.message)
        }
        guard let role = settings.role(of: event.pubkey) else {
            return .refused("the configuration does not name this key as operator or viewer")
        }
        guard used[event.id] == nil else { return .refused("this event was used before") }
        guard used.count < Self.maximumEvents else { return .refused("too many logins; try again in a minute") }
        let until = event.createdAt + HTTPAuthentication.tolerance
        used[event.id] = until.seconds
        return .admitted(event.pubkey, role)
    }
}
