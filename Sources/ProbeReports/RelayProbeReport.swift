package import Nostr

/// The phases of a relay probe, in the order of the report; `docs/relay-probe.md` describes each.
package enum RelayPhase: String, Sendable, Hashable, CaseIterable {
    /// In this order: name resolution, TCP connection, TLS handshake, expiry of the certificate chain, WebSocket
    /// upgrade, information document (NIP-11), clock difference, subscription up to `EOSE`, writing up to `OK`, and
    /// delivery of a new event to an open subscription.
    case dns, tcp, tls, certificate, upgrade, information, clock, subscribe, write, live
    /// Acceptance of key packages of older clients (MIP-00).
    case kind443 = "kind_443"
    /// Acceptance of key packages of both protocol generations.
    case kind30443 = "kind_30443"
    /// Acceptance of group messages (MIP-03).
    case kind445 = "kind_445"
    /// Acceptance of gift wraps, which carry invitations (NIP-59), dated two days back.
    case kind1059 = "kind_1059"
    /// Acceptance of lists of write relays (NIP-65), which name the relays with key packages of the second generation.
    case kind10002 = "kind_10002"
    /// Acceptance of lists of inbox relays (NIP-17).
    case kind10050 = "kind_10050"
    /// Acceptance of lists of key package relays (MIP-00).
    case kind10051 = "kind_10051"
    /// Retrieval of an accepted group message on a new connection.
    case readback
    /// Retrieval of one event of each other accepted kind.
    case silentDrop = "silent_drop"
    /// Retrieval of an author's two key packages with different `d` tags, one of each protocol generation.
    case slots
    /// In this order: the filters `since` and `until`, the filter `limit`, five concurrent subscriptions, a duplicate
    /// event, an `EVENT` message of 64 KiB, expiration (NIP-40), deletion (NIP-09), twenty events at once,
    /// authentication (NIP-42), and unrequested or malformed messages.
    case since, limit, subscriptions, duplicate, size, expiration, deletion, rate, auth, manners
}

/// The faults of a relay; `docs/relay-probe.md` lists their severities.
package enum RelayFault: String, Sendable, Hashable, CaseIterable {
    /// The host name does not resolve.
    case nameUnknown = "name_unknown"
    /// No address accepts a TCP connection.
    case unreachable
    /// The host has only private addresses, which the request does not allow.
    case notAllowed = "not_allowed"
    /// The TLS handshake failed, or the certificate is expired, not yet valid, untrusted or for another name.
    case tlsFailed = "tls_failed"
    /// A certificate of the chain expires within 14 days.
    case certificateEnds = "certificate_ends"
    /// The WebSocket upgrade failed.
    case notWebSocket = "not_websocket"
    /// The relay accepts connections, but never sends a message.
    case silent
    /// The relay closed the connection during a phase.
    case connectionLost = "connection_lost"
    /// The relay serves no information document (NIP-11).
    case informationMissing = "information_missing"
    /// The relay contradicts its information document.
    case informationFalse = "information_false"
    /// The relay's clock is off by more than 30 seconds, or it refuses events dated now.
    case clockOff = "clock_off"
    /// The relay requests authentication (NIP-42), and admits the key that authenticates.
    case authRequired = "auth_required"
    /// The relay requires authentication, but refuses the key or sends no challenge.
    case loginRefused = "login_refused"
    /// The relay sends no `EOSE` after stored events.
    case noEndOfStored = "no_eose"
    /// The relay refuses queries (`CLOSED`).
    case readRefused = "read_refused"
    /// The relay refuses all events of an unknown key.
    case writeRefused = "write_refused"
    /// The relay does not acknowledge events (`OK`).
    case writeUnanswered = "write_unanswered"
    /// The relay refuses a kind that groups need.
    case kindRefused = "kind_refused"
    /// The relay refuses invitations dated two days back, as NIP-59 allows.
    case datedRefused = "dated_refused"
    /// The relay does not deliver new events to an open subscription.
    case noLiveDelivery = "no_live_delivery"
    /// The relay acknowledges events, but does not return them.
    case silentDrop = "silent_drop"
    /// The relay keeps only one of an author's key packages with different `d` tags.
    case slotsMerged = "slots_merged"
    /// The relay ignores `since` and `until`, or omits events that match them.
    case sinceIgnored = "since_ignored"
    /// The relay ignores `limit`, or does not return the latest events.
    case limitIgnored = "limit_ignored"
    /// The relay returns fewer than three events per query.
    case fewEvents = "few_events"
    /// The relay refuses five concurrent subscriptions.
    case fewSubscriptions = "few_subscriptions"
    /// The relay refuses or does not acknowledge an event that it has already accepted.
    case duplicateRefused = "duplicate_refused"
    /// The relay refuses `EVENT` messages of 65,536 bytes, or even of 16,384 bytes.
    case sizeLimit = "size_limit"
    /// The relay claims NIP-40, but returns expired events.
    case expirationIgnored = "expiration_ignored"
    /// The relay claims NIP-09, but refuses deletions or returns deleted events.
    case deletionIgnored = "deletion_ignored"
    /// The relay accepts fewer than twenty events at once.
    case rateLimited = "rate_limited"
    /// An essential phase exceeded the deadline.
    case tooSlow = "too_slow"
    /// The relay sends events that were not requested.
    case unasked
    /// The relay sends malformed messages or invalid events.
    case garbage
}

/// The result of probing one relay.
package struct RelayProbeReport: Sendable, Hashable {
    /// The outcome of a phase.
    package enum Outcome: String, Sendable, Hashable {
        /// The relay met the phase's expectation, or showed a fault.
        case passed, failed
        /// The phase does not apply to this relay or this probe.
        case skipped
        /// The phase was not reached, because of a fault or for lack of time.
        case unreached
    }

    /// The result of one phase.
    package struct Phase: Sendable, Hashable {
        /// The examined phase.
        package var name: RelayPhase
        /// The outcome of the phase.
        package var outcome: Outcome
        /// The time that the phase took; zero if it did not run.
        package var duration: Duration
        /// A sentence about the result, or the reason why the phase did not run. Safe for a terminal, without secrets.
        package var text: String

        /// Creates the result of a phase.
        package init(_ name: RelayPhase, _ outcome: Outcome, _ duration: Duration, _ text: String) {
            self.name = name
            self.outcome = outcome
            self.duration = duration
            self.text = text
        }
    }

    /// The severity of a fault, ascending.
    package enum Weight: String, Sendable, Hashable, Comparable {
        /// Informational, without effect on groups.
        case note
        /// Encrypted groups work, with limitations.
        case warning
        /// Encrypted groups do not work, or lose messages.
        case error

        /// Orders by severity.
        package static func < (left: Weight, right: Weight) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .note: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// A fault that a probe found.
    package struct Fault: Sendable, Hashable {
        /// The kind of the fault.
        package var code: RelayFault
        /// The phase in which it first showed.
        package var phase: RelayPhase
        /// The severity for encrypted groups.
        package var weight: Weight
        /// The fault as the end of a sentence about the relay, such as `sends no EOSE after stored events`.
        package var text: String
        /// The recommended action, as an imperative sentence without a period.
        package var advice: String

        /// Creates a fault.
        package init(_ code: RelayFault, _ phase: RelayPhase, _ weight: Weight, _ text: String, advice: String) {
            self.code = code
            self.phase = phase
            self.weight = weight
            self.text = text
            self.advice = advice
        }
    }

    /// The relay that was probed.
    package var relay: RelayURL
    /// The results of the phases, in the order of ``RelayPhase``.
    package var phases: [Phase] = []
    /// The faults, in the order in which they were found.
    package var faults: [Fault] = []
    /// The time that the whole probe took.
    package var duration = Duration.zero
    /// The relay's IP address, 4 or 16 bytes in network order; nil if it does not accept connections.
    package var address: [UInt8]?
    /// The time when the first certificate of the relay's chain expires; nil without TLS.
    package var certificateEnd: UnixTime?
    /// The relay's clock minus ours in seconds, if the relay reveals its time.
    package var clockOffset: Double?
    /// Whether written events were found on a new connection; nil if that is unknown, for example because none were
    /// written.
    package var isReadBack: Bool?
    /// Whether the relay asked for authentication (NIP-42).
    package var wantsLogin = false
    /// The relay's information document (NIP-11), unmodified; nil if it has none.
    package var information: String?
    /// The NIPs that the relay claims to support.
    package var supportedNIPs: [Int] = []

    /// Creates an empty report.
    package init(_ relay: RelayURL) { self.relay = relay }

    /// Returns the result of a phase; nil if the report does not have it.
    package func phase(_ name: RelayPhase) -> Phase? { phases.first { $0.name == name } }
}

extension RelayProbeReport {
    /// Faults that end a probe before any request.
    private static let fatal: Set<RelayFault> = [
        .nameUnknown, .unreachable, .notAllowed, .tlsFailed, .notWebSocket, .silent,
    ]

    /// Whether the probe could exchange messages with the relay.
    package var isReachable: Bool { !faults.contains { Self.fatal.contains($0.code) } }

    /// Whether encrypted groups work on the relay.
    package var isGood: Bool { !faults.contains { $0.weight == .error } }

    /// The overall result in one sentence, followed by advice.
    package var verdict: String {
        let (errors, warnings) = (faults.filter { $0.weight == .error }, faults.filter { $0.weight == .warning })
        let notes = faults.filter { $0.weight == .note }.map { "It \($0.text)." }
        let advice = Self.advice(errors.isEmpty ? warnings : errors)
        let judgement =
            if !isReachable {
                "Unreachable: \(Self.list(errors))."
            } else if !errors.isEmpty {
                "Not fit for encrypted groups: it \(Self.list(errors))."
                    + (warnings.isEmpty ? "" : " It also \(Self.list(warnings)).")
            } else if !warnings.isEmpty {
                "Good for encrypted groups, but it \(Self.list(warnings))."
            } else {
                "Good for encrypted groups."
            }
        return ([judgement] + notes + advice).joined(separator: " ")
    }

    private static func list(_ faults: [Fault]) -> String { faults.map(\.text).joined(separator: "; it ") }

    private static func advice(_ faults: [Fault]) -> [String] {
        var said: [String] = []
        for fault in faults where !said.contains(fault.advice) { said.append(fault.advice) }
        return said.map { "\($0.prefix(1).uppercased())\($0.dropFirst())." }
    }
}
