import NIOCore

/// Checks a host's certificate.
struct CertificateFindings: Sendable {
    let host: String
    let limit: Duration
    let now: Int64

    /// Remaining lifetime, in seconds, below which a warning is reported. Certificates are usually renewed
    /// automatically a month before they expire.
    private static let renewal: Int64 = 14 * 86_400

    /// Returns whether TLS connections succeed.
    func run(_ address: SocketAddress, _ findings: inout FindingList) async -> Bool {
        do {
            judge(try await TLSReach.handshake(with: host, at: address, within: limit), &findings)
            return true
        } catch {
            // Fetch the certificate without verification to find out why it is invalid.
            let presented = try? await TLSReach.handshake(with: host, at: address, isVerified: false, within: limit)
            judge(failure: error, presented, &findings)
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

    func judge(failure: NetworkError, _ presented: TLSReach.Certificate?, _ findings: inout FindingList) {
        guard let presented else {
            findings.error(
                "tls", failure.description, "check the port: the server does not use TLS, or only unsupported versions")
            return
        }
        if presented.end <= now {
            findings.error(
                "certificate", "expired \((now - presented.end) / 86_400) days ago",
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
