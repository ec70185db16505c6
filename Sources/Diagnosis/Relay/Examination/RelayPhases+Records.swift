import NIOCore
import Nostr
import ProbeReports

/// Outcomes of the steps that every examination begins with.
extension RelayPhases {
    /// Records the lookup of the host name, the connection and the TLS handshake.
    mutating func record(_ reach: ReachRecord) {
        keep(reach)
        guard let lookup = reach.lookup else { return }
        switch lookup {
        case .failed(let error):
            fail(
                .nameUnknown, .dns, .error, after: reach.lookupTime, "has a host name that does not resolve: \(error)",
                "check the spelling and this machine's DNS settings")
        case .forbidden:
            fail(
                .notAllowed, .dns, .error, after: reach.lookupTime,
                "has only private addresses, which this probe may not contact",
                "to allow it, add exactly this relay to the targets")
        case .found(let addresses):
            pass(.dns, after: reach.lookupTime, addresses.compactMap(\.ipAddress).joined(separator: ", "))
        }
        guard let connection = reach.connection else { return }
        switch connection.end {
        case .failed:
            fail(
                .unreachable, .tcp, .error, after: connection.duration,
                "accepts no connections at port \(reach.port): \(connection.failures.joined(separator: "; "))",
                "check the address; if it is right, the relay is down, or this machine has no route to it")
        case .open(let address):
            let others =
                connection.failures.isEmpty ? "" : "; no connection to \(connection.failures.joined(separator: "; "))"
            pass(.tcp, after: connection.duration, "\(address.ipAddress ?? reach.host) port \(reach.port)\(others)")
        }
        switch reach.tls {
        case nil: break
        case .unused?:
            skip(.tls, "ws:// uses no TLS")
            skip(.certificate, "ws:// uses no TLS")
        case .used(let handshake)?: record(handshake, with: reach.host)
        }
        if let address = reach.address { recordAddress(address.networkBytes) }
    }

    /// Seconds before its expiry from which a certificate is reported: usually it is renewed a month before.
    private static let renewal: Int64 = 14 * 86_400

    private mutating func record(_ handshake: ReachRecord.Handshake, with host: String) {
        recordCertificateEnd(handshake.shown?.chainEnd)
        if let failure = handshake.failure { return recordFailure(failure, handshake, with: host) }
        pass(.tls, after: handshake.handshakeTime, "certificate valid for \(host)")
        guard let shown = handshake.shown else { return skip(.certificate, "no certificate in a second handshake") }
        let now = ThrowawayEvent.now
        let days = max(0, shown.chainEnd.seconds(since: now)) / 86_400
        guard shown.chainEnd < now + Self.renewal else {
            return pass(.certificate, after: handshake.duration, "expires in \(days) days")
        }
        fail(
            .certificateEnds, .certificate, .warning, after: handshake.duration,
            "has a certificate that expires in \(days) days",
            "tell its operator: connections will fail once it has expired")
    }

    private mutating func recordFailure(
        _ failure: NetworkError, _ handshake: ReachRecord.Handshake, with host: String
    ) {
        let now = ThrowawayEvent.now
        let (text, advice) =
            switch handshake.shown {
            case nil:
                (
                    "fails the TLS handshake: \(failure)",
                    "check the port: the server does not use TLS, or only unsupported versions"
                )
            case let shown? where shown.chainEnd <= now:
                (
                    "has a certificate that expired \(now.seconds(since: shown.chainEnd) / 86_400) days ago",
                    "tell its operator; check this machine's clock"
                )
            case let shown? where shown.begin > now:
                ("has a certificate that is not valid yet", "check this machine's clock")
            case let shown?:
                (
                    "has a certificate that is not valid for \(host) (its names: \(shown.names)), or not signed"
                        + " by a trusted authority",
                    "check the host name; if the authority is your own, add its PEM file to the trusted ones"
                )
            }
        fail(.tlsFailed, .tls, .error, after: handshake.duration, text, advice)
    }

    /// Records an exchange of events as an account.
    mutating func record(_ exchange: RelayRecord) {
        keep(exchange)
        if exchange.wasChallenged { recordLoginRequest() }
    }

    /// Records the WebSocket upgrade.
    mutating func recordUpgrade(_ failure: NetworkError?, since began: ContinuousClock.Instant) {
        guard let failure else { return pass(.upgrade, since: began, "speaks WebSocket") }
        keep(RelayRecord(failure: "\(failure)"))
        fail(
            .notWebSocket, .upgrade, .error, since: began, "fails the WebSocket upgrade: \(failure)",
            "check the address and its path: no relay responds there")
    }

    /// Records the information document, and the clock of the server that sent it.
    mutating func record(_ information: InformationRecord) {
        keep(information)
        if case .success(let answer) = information.answer {
            recordClock(answer.clockOffset, after: information.duration)
        }
        if let problem = information.problem {
            skip(.information, "no NIP-11 document: \(problem)")
            return addFault(
                .informationMissing, .information, .note, "serves no NIP-11 document: \(problem)",
                "ask its operator for its limits")
        }
        guard case .success(let answer) = information.answer else { return }
        recordInformation(answer.text, supportedNIPs: answer.information?.supportedNIPs ?? [])
        pass(.information, after: information.duration, information.summary)
    }

    private mutating func recordClock(_ offset: Double?, after duration: Duration) {
        guard let offset else { return skip(.clock, "the relay does not send its time") }
        recordClockOffset(offset)
        // Clamped, so that even an absurd offset can be printed.
        let seconds = Int(max(-1e9, min(1e9, offset.rounded())))
        guard abs(offset) > ClockFindings.tolerated else {
            return pass(.clock, after: duration, "within \(max(1, abs(seconds))) s of the local clock")
        }
        fail(
            .clockOff, .clock, .warning, after: duration,
            "has a clock \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the local one",
            "check this machine's clock (timedatectl); if it is right, tell the relay's operator")
    }
}
