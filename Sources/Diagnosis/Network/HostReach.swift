import Foundation
import NIOCore

/// Checks name resolution and TCP connections to a host, and TLS where it is used.
struct HostReach: Sendable {
    let host: String
    let port: Int
    let limit: Duration
    /// Whether TLS is checked too.
    let isSecure: Bool

    /// Returns whether one of the addresses is reachable.
    func run(_ findings: inout FindingList) async -> Bool {
        do {
            let addresses = try await NameLookup.addresses(of: host, port: port)
            findings.ok("name", "\(host) resolves to \(addresses.compactMap(\.ipAddress).joined(separator: ", "))")
            var failures: [String] = []
            for address in addresses {
                let began = ContinuousClock.now
                do {
                    try await TCPReach.connect(to: address, within: limit)
                    let time = (ContinuousClock.now - began).inWholeMilliseconds
                    findings.ok("tcp", "connected to \(address.ipAddress ?? host) port \(port) in \(time) ms")
                    note(failures, &findings)
                    guard isSecure else { return true }
                    let now = Int64(Date().timeIntervalSince1970)
                    return await CertificateFindings(host: host, limit: limit, now: now).run(address, &findings)
                } catch { failures.append("\(address.ipAddress ?? host): \(error)") }
            }
            findings.error(
                "tcp", "no connection to port \(port): \(failures.joined(separator: "; "))",
                "check the port and this machine's firewall; if both are right, the server is down")
        } catch {
            findings.error(
                "name", "\(host) does not resolve: \(error)", "check the spelling and this machine's DNS settings")
        }
        return false
    }

    /// Reports the addresses that failed: every connection tries them first.
    private func note(_ failures: [String], _ findings: inout FindingList) {
        guard !failures.isEmpty else { return }
        findings.warning(
            "tcp", "no connection to \(failures.joined(separator: "; "))",
            "this machine may have no route to such addresses (IPv6?), which delays connections")
    }
}
