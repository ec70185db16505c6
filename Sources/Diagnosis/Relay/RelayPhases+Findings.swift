import NIOCore
import Nostr

/// The results as findings, in the order of the steps.
extension RelayPhases {
    /// - Parameter canLogIn: Whether there was a key to log in with (NIP-42).
    func judge(canLogIn: Bool, into findings: inout FindingList) {
        judgeReach(&findings)
        judgeInformation(canLogIn, &findings)
        exchange?.judge(canLogIn: canLogIn, into: &findings)
    }

    private func judgeReach(_ findings: inout FindingList) {
        guard let reach else { return }
        switch reach.lookup {
        case .found(let addresses)?:
            findings.ok(
                "name", "\(reach.host) resolves to \(addresses.compactMap(\.ipAddress).joined(separator: ", "))")
        case .failed(let error)?:
            findings.error(
                "name", "\(reach.host) does not resolve: \(error)",
                "check the spelling and this machine's DNS settings")
        case .forbidden?:
            findings.error(
                "name", "\(reach.host) has only private addresses", "use a relay with a public address")
        case nil: break
        }
        if let connection = reach.connection { judge(connection, reach, &findings) }
        if case .used(let handshake)? = reach.tls {
            CertificateFindings(host: reach.host, now: ThrowawayEvent.now).judge(handshake, &findings)
        }
    }

    private func judge(_ connection: ReachRecord.Connection, _ reach: ReachRecord, _ findings: inout FindingList) {
        let failures = connection.failures.joined(separator: "; ")
        guard case .open(let address) = connection.end else {
            findings.error(
                "tcp", "no connection to port \(reach.port): \(failures)",
                "check the port and this machine's firewall; if both are right, the server is down")
            return
        }
        let time = connection.lastDuration.inWholeMilliseconds
        findings.ok("tcp", "connected to \(address.ipAddress ?? reach.host) port \(reach.port) in \(time) ms")
        // Every connection tries these addresses first.
        guard !failures.isEmpty else { return }
        findings.warning(
            "tcp", "no connection to \(failures)",
            "this machine may have no route to such addresses (IPv6?), which delays connections")
    }

    private func judgeInformation(_ canLogIn: Bool, _ findings: inout FindingList) {
        guard let information else { return }
        if let problem = information.problem {
            findings.warning("information", "no NIP-11 document: \(problem)", "ask its operator for its limits")
            return
        }
        findings.ok("information", information.summary)
        RelayRequirements.judge(
            information.information?.limitation ?? .init(), canLogIn: canLogIn, into: &findings)
    }
}
