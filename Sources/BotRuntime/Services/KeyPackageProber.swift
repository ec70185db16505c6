import BotKit
import Diagnosis
import Nostr
import PikaCore

/// Looks for key packages by the account's own connections, as the core does.
struct KeyPackageProber: BotKeyPackageProbes {
    let transport: any RelayTransport
    /// The relays of the configuration.
    let home: [RelayURL]
    let clock: any CoreClock

    func probe(_ request: KeyPackageProbeRequest) async -> KeyPackageReport {
        let probe = KeyPackageProbe(home: home, objection: Self.objection) { [transport] in
            await transport.fetch($0, from: $1, timeout: $2)
        }
        var generator = SystemRandomNumberGenerator()
        return await probe.run(request, now: clock.nowMilliseconds / 1000, using: &generator)
    }

    /// A stranger's list must not lead to what trusts this machine.
    private static func objection(_ relay: RelayURL) async -> String? {
        let addresses = (try? await withDeadline(.seconds(3)) { await HostAddresses.of(relay.host) }) ?? []
        guard !addresses.isEmpty else { return "its name is unknown" }
        guard addresses.contains(where: { $0.scope == .local }) else { return nil }
        return "not asked: it is in a network of this machine, and only a list names it"
    }
}
