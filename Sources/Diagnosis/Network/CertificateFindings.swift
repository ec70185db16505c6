import Nostr

/// Checks a host's certificate.
struct CertificateFindings: Sendable {
    let host: String
    let now: UnixTime

    /// Remaining lifetime, in seconds, below which a warning is reported. Certificates are usually renewed
    /// automatically a month before they expire.
    private static let renewal: Int64 = 14 * 86_400

    func judge(_ handshake: ReachRecord.Handshake, _ findings: inout FindingList) {
        if let failure = handshake.failure {
            judge(failure: failure, handshake.shown, &findings)
        } else if let certificate = handshake.accepted {
            judge(certificate, &findings)
        }
    }

    func judge(_ certificate: TLSReach.Certificate, _ findings: inout FindingList) {
        let days = max(0, certificate.end.seconds(since: now)) / 86_400
        if certificate.end < now + Self.renewal {
            findings.warning(
                "certificate", "expires in \(days) days",
                "tell its operator: connections will fail once it has expired")
        } else {
            findings.ok("certificate", "valid for \(host), expires in \(days) days")
        }
    }

    func judge(failure: NetworkError, _ presented: TLSReach.Certificate?, _ findings: inout FindingList) {
        guard let presented else {
            findings.error(
                "tls", failure.description, "check the port: the server does not use TLS, or only unsupported versions")
            return
        }
        if presented.end <= now {
            findings.error(
                "certificate", "expired \(now.seconds(since: presented.end) / 86_400) days ago",
                "tell its operator; check this machine's clock")
        } else if presented.begin > now {
            findings.error("certificate", "not valid yet", "check this machine's clock")
        } else {
            findings.error(
                "certificate",
                "not valid for \(host) (its names: \(presented.names)), or not signed by a trusted authority",
                "check the host name; if it is right, install the CA certificates (apt-get install ca-certificates)"
            )
        }
    }
}
