import BotKit
import Diagnosis
import Errors
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import ProbeReports
import RelayClient

/// Looks up key packages over the account's own connections, like the core.
///
/// Relays named only by other accounts' lists are queried over separate connections for the one probe. These reach only
/// public addresses, and do not authenticate.
struct KeyPackageProber: BotKeyPackageProbes {
    let transport: any RelayTransport
    /// The relays of the configuration.
    let home: ConfiguredRelays
    /// The account's address guard, which is given the relays named by bots' settings.
    let addresses: AddressGuard
    var lookUp: @Sendable (String) async -> [HostAddress] = HostAddresses.of
    let clock: any CoreClock
    let logger: Logger

    func probe(_ request: KeyPackageProbeRequest) async throws -> KeyPackageReport {
        let home = home.current
        let trusted = Set(home + request.relays)
        addresses.addNamedRelays(request.relays)
        let report = await withUntrustedRelays { [transport, lookUp] strangers in
            let probe = KeyPackageProbe(home: home, objection: { await Self.objection($0, lookUp) }) {
                filters, relays, timeout in
                async let near = transport.fetch(filters, from: relays.filter(trusted.contains), timeout: timeout)
                let far = await strangers(filters, relays.filter { !trusted.contains($0) }, timeout)
                return await near.merging(far) { near, _ in near }
            }
            var generator = SystemRandomNumberGenerator()
            return await probe.run(request, now: clock.now, using: &generator)
        }
        try Task.checkCancellation()
        return report
    }

    /// Runs `body` with separate connections to unknown relays, which are closed at the end.
    private func withUntrustedRelays(
        _ body: (@escaping KeyPackageProbe.Fetch) async -> KeyPackageReport
    ) async -> KeyPackageReport {
        let pool: RelayPool
        let addresses = AddressGuard(allowsPrivate: false, addresses: lookUp)
        do { pool = try RelayPool(addresses: addresses, logger: logger) } catch {
            return await body { _, relays, _ in
                Dictionary(relays.map { ($0, .failed(error.message)) }, uniquingKeysWith: { first, _ in first })
            }
        }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await pool.run() }
            group.addTask { for await _ in pool.updates {} }
            defer { group.cancelAll() }
            return await body { await pool.fetch($0, from: $1, timeout: $2) }
        }
    }

    /// Returns the reason why a relay must not be queried; nil if it may: an untrusted list must not lead to services
    /// that trust this machine. Checked here for the report, and again by every connection.
    private static func objection(
        _ relay: RelayURL, _ lookUp: @escaping @Sendable (String) async -> [HostAddress]
    ) async -> String? {
        do {
            _ = try await withDeadline(.seconds(3)) {
                try await AddressGuard.checkedAddresses(relay.host, addresses: lookUp)
            }
            return nil
        } catch AddressRefusal.privateAddress {
            return "not queried: it has a private address and only a relay list names it"
        } catch {
            return "unknown host name"
        }
    }
}
