public import BotKit
import Foundation
public import Logging
import NetworkAddresses
public import Nostr
import RelayClient

extension KeyPackageProbe {
    /// One probe with connections of its own, which are closed at its end; as nobody, so it logs in nowhere.
    ///
    /// - Parameter allowsPrivateAddresses: Whether relays that only the account's lists name may be at private addresses.
    ///
    /// Throws the transport's error if there can be no connections at all.
    public static func once(
        _ request: KeyPackageProbeRequest, home: [RelayURL] = [], allowsPrivateAddresses: Bool = false, logger: Logger
    ) async throws -> KeyPackageReport {
        var configuration = TransportConfiguration()
        configuration.connectTimeout = min(configuration.connectTimeout, request.timeout)
        // The operator names these; relays that only the peer's lists name must be public.
        let addresses = AddressGuard(allowsPrivate: allowsPrivateAddresses)
        addresses.nameRelays(home + request.relays)
        let pool = try RelayPool(configuration: configuration, addresses: addresses, logger: logger)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await pool.run() }
            group.addTask { for await _ in pool.updates {} }
            let probe = KeyPackageProbe(home: home) { await pool.fetch($0, from: $1, timeout: $2) }
            var generator = SystemRandomNumberGenerator()
            let report = await probe.run(request, now: Int64(Date().timeIntervalSince1970), using: &generator)
            await pool.shutdown()
            return report
        }
    }
}
