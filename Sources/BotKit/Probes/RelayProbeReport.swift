/// The phases of a relay probe, in the order in which they run.
public enum RelayPhase: String, Sendable, Hashable, CaseIterable {
    case dns, tcp, tls, certificate, upgrade, information, clock, subscribe, write, live
    case kind443 = "kind_443"
    case kind30443 = "kind_30443"
    case kind445 = "kind_445"
    case kind1059 = "kind_1059"
    case kind10050 = "kind_10050"
    case kind10051 = "kind_10051"
    case readback
    case silentDrop = "silent_drop"
    case since, limit, subscriptions, duplicate, size, expiration, deletion, rate, auth, manners
}

/// The faults of a relay, one word for each.
public enum RelayFault: String, Sendable, Hashable, CaseIterable {
    case nameUnknown = "name_unknown"
    case unreachable
    case notAllowed = "not_allowed"
    case tlsFailed = "tls_failed"
    case certificateEnds = "certificate_ends"
    case notWebSocket = "not_websocket"
    case silent
    case connectionLost = "connection_lost"
    case informationMissing = "information_missing"
    case informationFalse = "information_false"
    case clockOff = "clock_off"
    case authRequired = "auth_required"
    case loginRefused = "login_refused"
    case noEndOfStored = "no_eose"
    case readRefused = "read_refused"
    case writeRefused = "write_refused"
    case writeUnanswered = "write_unanswered"
    case kindRefused = "kind_refused"
    case datedRefused = "dated_refused"
    case noLiveDelivery = "no_live_delivery"
    case silentDrop = "silent_drop"
    case sinceIgnored = "since_ignored"
    case limitIgnored = "limit_ignored"
    case fewEvents = "few_events"
    case fewSubscriptions = "few_subscriptions"
    case duplicateRefused = "duplicate_refused"
    case sizeLimit = "size_limit"
    case expirationIgnored = "expiration_ignored"
    case deletionIgnored = "deletion_ignored"
    case rateLimited = "rate_limited"
    case tooSlow = "too_slow"
    case unasked
    case garbage
}

/// The result of probing one relay.
public struct RelayProbeReport: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable {
        case passed, failed
        /// The phase does not apply to this relay or this probe.
        case skipped
        /// The phase was not reached, because of a fault or for lack of time.
        case unreached
    }

    public struct Phase: Sendable, Hashable {
        public var name: RelayPhase
        public var outcome: Outcome
        public var duration: Duration
        /// A sentence about the result, or the reason why the phase did not run. Safe for a terminal, without secrets.
        public var text: String

        public init(_ name: RelayPhase, _ outcome: Outcome, _ duration: Duration, _ text: String) {
            self.name = name
            self.outcome = outcome
            self.duration = duration
            self.text = text
        }
    }

    public enum Weight: String, Sendable, Hashable, Comparable {
        /// Informational, without effect on groups.
        case note
        /// Encrypted groups work, with limitations.
        case warning
        /// Encrypted groups do not work, or lose messages.
        case error

        public static func < (left: Weight, right: Weight) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .note: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    public struct Fault: Sendable, Hashable {
        public var code: RelayFault
        public var phase: RelayPhase
        public var weight: Weight
        public var text: String
        /// The recommended action.
        public var advice: String

        public init(_ code: RelayFault, _ phase: RelayPhase, _ weight: Weight, _ text: String, advice: String) {
            self.code = code
            self.phase = phase
            self.weight = weight
            self.text = text
            self.advice = advice
        }
    }

    public var relay: RelayURL
    /// In the order of ``RelayPhase``.
    public var phases: [Phase] = []
    /// In the order in which they were found.
    public var faults: [Fault] = []
    public var duration = Duration.zero
    /// The address of the relay, 4 or 16 bytes in network order; nil if it does not accept connections.
    public var address: [UInt8]?
    /// Unix seconds when the first certificate of the relay's chain expires; nil without TLS.
    public var certificateEnd: Int64?
    /// The relay's clock minus ours in seconds, if the relay reveals its time.
    public var clockOffset: Double?
    /// Whether written events were found on a new connection; nil if that is unknown, for example because none were
    /// written.
    public var isReadBack: Bool?
    /// Whether the relay asked for authentication (NIP-42).
    public var wantsLogin = false
    /// The relay's information document (NIP-11), unmodified; nil if it has none.
    public var information: String?
    /// The NIPs that the relay claims to support.
    public var supportedNIPs: [Int] = []

    public init(_ relay: RelayURL) { self.relay = relay }

    public func phase(_ name: RelayPhase) -> Phase? { phases.first { $0.name == name } }
}

extension RelayProbeReport {
    /// Faults that end a probe before any request.
    private static let fatal: Set<RelayFault> = [
        .nameUnknown, .unreachable, .notAllowed, .tlsFailed, .notWebSocket, .silent,
    ]

    /// Whether the probe could exchange messages with the relay.
    public var isReachable: Bool { !faults.contains { Self.fatal.contains($0.code) } }

    /// Whether encrypted groups work on the relay.
    public var isGood: Bool { !faults.contains { $0.weight == .error } }

    /// The overall result in one sentence, followed by advice.
    public var verdict: String {
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
