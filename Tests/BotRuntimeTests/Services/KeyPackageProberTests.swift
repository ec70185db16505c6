import BotKit
import BotTesting
import EmbeddedRelay
import LiveTesting
import Logging
import NetworkAddresses
import ProbeReports
import Synchronization
import Testing

@testable import BotRuntime

@Suite(.live)
struct KeyPackageProberTests {
    private func prober(
        _ lab: GroupLab, addresses: @escaping @Sendable (String) async -> [HostAddress] = HostAddresses.of
    ) -> KeyPackageProber {
        let home = ConfiguredRelays([])
        let prober = KeyPackageProber(
            transport: lab.network.transport(name: "prober"), home: home, addresses: AddressGuard(allowsPrivate: false),
            lookUp: addresses, clock: lab.clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        // As after a reload.
        home.set([lab.relay])
        return prober
    }

    private func publish(_ kind: Kind, _ relays: [String], by keys: KeyPair, at time: UnixTime) -> Event {
        var generator = SystemRandomNumberGenerator()
        return UnsignedEvent(
            pubkey: keys.publicKey, createdAt: time, kind: kind, tags: relays.map { Tag("relay", $0) }, content: ""
        ).signed(by: keys, using: &generator)
    }

    @Test func findsMembersThroughConfiguredRelays() async throws {
        let lab = try GroupLab(seed: 1)
        let alice = try await lab.member("alice")
        let prober = prober(lab)
        let report = try await prober.probe(KeyPackageProbeRequest(account: alice.publicKey))
        #expect(report.isSuccess, "\(report.lines)")
        for generation in GroupGeneration.allCases {
            #expect(report.isSuccess(in: generation), "\(report.lines)")
            #expect(report[generation].relays.map(\.state) == [.present])
        }
        #expect(report.lists.map(\.problem) == [nil, nil, nil])
    }

    /// An account's published lists must not lead to services of the probing machine.
    @Test func listsCannotNamePrivateRelays() async throws {
        let lab = try GroupLab(seed: 2)
        var generator = SystemRandomNumberGenerator()
        let keys = KeyPair.generate(using: &generator)
        let time = lab.clock.now
        let strange = ["ws://127.0.0.1:1", "ws://[::1]:1", "ws://192.168.0.1", "ws://localhost:1"]
        lab.network.inject(publish(.keyPackageRelays, strange, by: keys, at: time), at: lab.relay)
        let prober = prober(lab)
        let report = try await prober.probe(KeyPackageProbeRequest(account: keys.publicKey, timeout: .seconds(60)))
        #expect(report[.v1].relays.map(\.relay.string) == [lab.relay.string] + strange)
        #expect(report[.v1].relays.dropFirst().allSatisfy { $0.state == .unknown && !$0.isConfigured })
        #expect(report[.v1].relays.dropFirst().allSatisfy { $0.reason.hasPrefix("not queried") }, "\(report.lines)")
    }

    /// A name may resolve to another address at connection time.
    @Test func queriesListedRelaysAtCheckedAddress() async throws {
        try await withEmbeddedRelay { _, address in
            let lab = try GroupLab(seed: 4)
            var generator = SystemRandomNumberGenerator()
            let keys = KeyPair.generate(using: &generator)
            let port = try RelayURL(address).port
            let strange = ["ws://there.invalid:\(port)", "ws://mixed.invalid:\(port)"]
            let list = publish(.keyPackageRelays, strange, by: keys, at: lab.clock.now)
            lab.network.inject(list, at: lab.relay)
            let lookups = Mutex<[String]>([])
            let prober = prober(lab) { host in
                lookups.withLock { $0.append(host) }
                let there = HostAddress(text: "127.0.0.1", scope: .global)
                return host == "there.invalid" ? [there] : [there, HostAddress(text: "::1", scope: .local)]
            }
            let report = try await prober.probe(
                KeyPackageProbeRequest(account: keys.publicKey, timeout: .seconds(60)))
            #expect(report[.v1].relays.dropFirst().map(\.state) == [.missing, .unknown], "\(report.lines)")
            // Once for the report, and once to connect.
            #expect(lookups.withLock { $0.sorted() } == ["mixed.invalid", "there.invalid", "there.invalid"])
        }
    }

    @Test func cancelledProbeReportsNothing() async throws {
        let lab = try GroupLab(seed: 5)
        let alice = try await lab.member("alice")
        let prober = prober(lab)
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                await #expect(throws: CancellationError.self) {
                    _ = try await prober.probe(KeyPackageProbeRequest(account: alice.publicKey))
                }
            }
        }
    }

    /// Relays named by the operator are queried at any address.
    @Test func queriesConfiguredRelaysAnywhere() async throws {
        let lab = try GroupLab(seed: 3)
        let near = try RelayURL("ws://127.0.0.1:1")
        let prober = prober(lab)
        var generator = SystemRandomNumberGenerator()
        let nobody = KeyPair.generate(using: &generator).publicKey
        let report = try await prober.probe(KeyPackageProbeRequest(account: nobody, relays: [near]))
        #expect(report[.v1].relays.map(\.isConfigured) == [true, true])
        #expect(report[.v1].relays.allSatisfy { !$0.reason.hasPrefix("not queried") })
    }
}
