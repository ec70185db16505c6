import BotKit
import Diagnosis
import NetworkAddresses
import Nostr
import PikaCore
import ProbeReports
import RelayClient

/// Relay probes for the bots of one account.
struct AccountRelayProbes: BotRelayProbes {
    let key: AccountKey
    let pool: RelayPool
    /// The relays to which results are published.
    let relays: ConfiguredRelays
    /// The base of relative file names.
    let folder: String
    let clock: SystemClock

    func probe(_ request: RelayProbeRequest) async throws -> RelayProbeReport {
        var probe = RelayProbe(request.relay)
        probe.writes = request.writes
        probe.timeout = request.timeout
        probe.trustRootFiles = request.trustRootFiles.map { $0.hasPrefix("/") ? $0 : "\(folder)/\($0)" }
        if request.logsInAsAccount { probe.login = key.relaySigner(clock) }
        if !request.reachesPrivateAddresses { probe.permits = { AddressScope($0) == .global } }
        let report = await probe.run()
        try Task.checkCancellation()
        if let fault = report.faults.first(where: { $0.code == .notAllowed }) {
            throw BotError(.probeRefused, "\(request.relay) \(fault.text)")
        }
        return report
    }

    func announce(_ announcement: RelayAnnouncement) async throws(BotError) {
        if case .relay(let report) = announcement, !report.isForAll { return }
        let event: Event
        do { event = try await key.signed(draft(announcement)) } catch {
            throw BotError(.requestFailed, "the account's key did not sign the relay monitoring event")
        }
        var reason = "no relays are configured"
        for await report in await pool.publish(event, to: relays.current) {
            switch report.outcome {
            case .accepted: return
            case .refused(let text), .unreachable(let text): reason = text
            }
        }
        throw BotError(.requestFailed, "no relay accepted the relay monitoring event: \(reason)")
    }

    private func draft(_ announcement: RelayAnnouncement) -> UnsignedEvent {
        switch announcement {
        case .monitor(let every, let timeout):
            RelayMonitoring.announcement(
                by: key.publicKey, frequency: Int64(every / .seconds(1)), timeout: Int64(timeout / .milliseconds(1)),
                checks: ["open", "read", "write", "auth", "nip11", "dns", "ssl"], now: clock.now)
        case .relay(let report): report.discovery.unsigned(by: key.publicKey, now: clock.now)
        }
    }
}

extension RelayProbeReport {
    /// Whether the relay is publicly reachable, so that the result may be published.
    fileprivate var isForAll: Bool { isReachable && address.map { AddressScope($0) } == .global }

    fileprivate var discovery: RelayMonitoring.Discovery {
        RelayMonitoring.Discovery(
            relay: relay, openTime: time(of: .upgrade), readTime: time(of: .subscribe), writeTime: time(of: .write),
            supportedNIPs: supportedNIPs, wantsLogin: wantsLogin, information: information)
    }

    private func time(of name: RelayPhase) -> Int64? {
        phase(name).flatMap { $0.outcome == .passed ? Int64($0.duration / .milliseconds(1)) : nil }
    }
}
