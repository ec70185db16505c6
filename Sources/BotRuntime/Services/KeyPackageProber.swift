import BotKit
import Diagnosis
import Logging
import Nostr
import PikaCore
import RelayClient
import Synchronization

/// Looks for key packages by the account's own connections, as the core does.
///
/// Relays that only the lists of strangers name are asked over connections for the one probe, which go to the addresses
/// that were judged and no others: a name can mean another address the next time it is asked for.
struct KeyPackageProber: BotKeyPackageProbes {
    let transport: any RelayTransport
    /// The relays of the configuration.
    let home: WatchedRelays
    /// Logs in at relays that ask for it.
    var signer: RelayPool.Signer?
    var addresses: @Sendable (String) async -> [HostAddress] = HostAddresses.of
    let clock: any CoreClock
    let logger: Logger

    func probe(_ request: KeyPackageProbeRequest) async throws -> KeyPackageReport {
        let home = home.current
        let trusted = Set(home + request.relays)
        let judged = JudgedRelays(addresses)
        let report = await withStrangers(judged) { [transport] strangers in
            let probe = KeyPackageProbe(home: home, objection: judged.objection) { filters, relays, timeout in
                async let near = transport.fetch(filters, from: relays.filter(trusted.contains), timeout: timeout)
                let far = await strangers(filters, relays.filter { !trusted.contains($0) }, timeout)
                return await near.merging(far) { near, _ in near }
            }
            var generator = SystemRandomNumberGenerator()
            return await probe.run(request, now: clock.nowMilliseconds / 1000, using: &generator)
        }
        try Task.checkCancellation()
        return report
    }

    /// With connections to strange relays, which are cut at the end.
    private func withStrangers(
        _ judged: JudgedRelays, _ body: (@escaping KeyPackageProbe.Fetch) async -> KeyPackageReport
    ) async -> KeyPackageReport {
        let pool: RelayPool
        do { pool = try RelayPool(signer: signer, places: judged.places, logger: logger) } catch {
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
}

/// Where strange relays were found to be when they were judged.
private final class JudgedRelays: Sendable {
    private let addresses: @Sendable (String) async -> [HostAddress]
    private let found = Mutex<[RelayURL: [String]]>([:])

    init(_ addresses: @escaping @Sendable (String) async -> [HostAddress]) { self.addresses = addresses }

    /// A stranger's list must not lead to what trusts this machine.
    func objection(_ relay: RelayURL) async -> String? {
        let places = (try? await withDeadline(.seconds(3)) { [addresses] in await addresses(relay.host) }) ?? []
        guard !places.isEmpty else { return "its name is unknown" }
        guard places.allSatisfy({ $0.scope == .everywhere }) else {
            return "not asked: it is in a network of this machine, and only a list names it"
        }
        found.withLock { $0[relay] = places.map(\.text) }
        return nil
    }

    func places(_ relay: RelayURL) -> [String] { found.withLock { $0[relay] ?? [] } }
}
