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
                "certificate", "expires in \(days) days",
                "tell its operator: connections will fail once it has expired")
        } else {
            findings.ok("certificate", "valid for \(host), expires in \(days) days")
        }
    }

    func judge(failure: NetworkError, _ shown: TLSReach.Certificate?, _ findings: inout FindingList) {
        guard let shown else {
            findings.error(
                "tls", failure.description, "check the port: the server speaks no TLS, or only unsupported versions")
            return
        }
        if shown.end <= now {
            findings.error(
                "certificate", "expired \((now - shown.end) / 86_400) days ago",
                "tell its operator; check this machine's clock")
        } else if shown.begin > now {
            findings.error("certificate", "not valid yet", "check this machine's clock")
        } else {
            findings.error(
                "certificate",
                "not valid for \(host) (its names: \(shown.names)), or not signed by a trusted authority",
                "check the host name; if it is right, install the CA certificates (apt-get install ca-certificates)"
            )
        }
    }
}
