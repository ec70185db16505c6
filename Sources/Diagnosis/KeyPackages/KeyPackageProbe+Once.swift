package import Logging
import NetworkAddresses
package import Nostr
package import ProbeReports
import RelayClient

extension KeyPackageProbe {
    /// Runs one probe with its own connections, which are closed at its end. It has no identity, so it does not log in
    /// to relays.
    ///
    /// - Parameter allowsPrivateAddresses: Whether relays that only the account's lists name may have private
    ///   addresses.
    ///
    /// Throws the transport's error if no connections can be made at all.
    package static func once(
        _ request: KeyPackageProbeRequest, home: [RelayURL] = [], allowsPrivateAddresses: Bool = false, logger: Logger
    ) async throws -> KeyPackageReport {
        var configuration = TransportConfiguration()
        configuration.connectTimeout = min(configuration.connectTimeout, request.timeout)
        // The operator names the configured relays; those that only the peer's lists name must be public.
        let addresses = AddressGuard(allowsPrivate: allowsPrivateAddresses)
        addresses.setConfiguredRelays(home + request.relays)
        let pool = try RelayPool(configuration: configuration, addresses: addresses, logger: logger)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await pool.run() }
            group.addTask { for await _ in pool.updates {} }
            let probe = KeyPackageProbe(home: home) { await pool.fetch($0, from: $1, timeout: $2) }
            var generator = SystemRandomNumberGenerator()
            let report = await probe.run(request, now: .systemTime, using: &generator)
            await pool.shutdown()
            return report
        }
    }
}
