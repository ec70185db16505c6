public import BotKit
import Foundation
public import Logging
public import Nostr
import RelayClient

extension KeyPackageProbe {
    /// One probe with connections of its own, which are closed at its end; as nobody, so it logs in nowhere.
    ///
    /// Throws the transport's error if there can be no connections at all.
    public static func once(
        _ request: KeyPackageProbeRequest, home: [RelayURL] = [], logger: Logger
    ) async throws -> KeyPackageReport {
        var configuration = TransportConfiguration()
        configuration.connectTimeout = min(configuration.connectTimeout, request.timeout)
        let pool = try RelayPool(configuration: configuration, signer: { _, _ in nil }, logger: logger)
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
