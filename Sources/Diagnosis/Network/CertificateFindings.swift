import NIOCore

/// Checks a host's certificate.
struct CertificateFindings: Sendable {
    let host: String
    let limit: Duration
    let now: Int64

    /// Certificates are usually renewed automatically a month before they expire.
    private static let renewal: Int64 = 14 * 86_400

    /// Returns whether TLS connections succeed.
    func run(_ address: SocketAddress, _ findings: inout FindingList) async -> Bool {
        do {
            judge(try await TLSReach.handshake(with: host, at: address, within: limit), &findings)
            return true
        } catch {
            // Fetch the certificate without verification to find out why it is invalid.
            let shown = try? await TLSReach.handshake(with: host, at: address, isVerified: false, within: limit)
            judge(failure: error, shown, &findings)
            return false
        }
    }

    func judge(_ certificate: TLSReach.Certificate, _ findings: inout FindingList) {
        let days = max(0, certificate.end - now) / 86_400
        if certificate.end < now + Self.renewal {
            findings.warning(
                "certificate", "ends in \(days) days",
                "tell its operator: after its end no connection can be made")
        } else {
            findings.ok("certificate", "holds for \(host), \(days) days more")
        }
    }

    func judge(failure: NetworkError, _ shown: TLSReach.Certificate?, _ findings: inout FindingList) {
        guard let shown else {
            findings.error(
                "tls", failure.description, "check the port: no TLS is spoken there, or none that is known here")
            return
        }
        if shown.end <= now {
            findings.error(
                "certificate", "ended \((now - shown.end) / 86_400) days ago",
                "tell its operator; check this machine's clock")
        } else if shown.begin > now {
            findings.error("certificate", "is not valid yet", "check this machine's clock")
        } else {
            findings.error(
                "certificate", "for \(shown.names) does not hold for \(host), or nobody trusted here has signed it",
                "check the name; if it is right, see that this machine has authorities (apt-get install ca-certificates)"
            )
        }
    }
}
