package import BotKit
import NIOCore
package import Nostr
package import RelayClient

/// Examines one relay as a client of encrypted groups uses it: from name resolution to storage and deletion.
///
/// All events that it writes are signed with throwaway keys, expire after an hour (NIP-40), and are deleted at the end
/// (NIP-09). Its time is bounded, and it reads no more than a few megabytes, whatever the relay does.
package struct RelayProbe: Sendable {
    package let relay: RelayURL
    /// Whether anything may be written.
    package var writes = true
    /// Timeout of the whole probe.
    package var timeout = Duration.seconds(20)
    /// Timeout of one step.
    package var stepTimeout = Duration.seconds(5)
    /// Signer of NIP-42 logins; nil uses a throwaway key.
    package var login: RelayPool.Signer?
    /// PEM files of certificate authorities that are trusted besides the system's.
    package var trustRootFiles: [String] = []
    /// Whether connections to this address, 4 or 16 bytes in network order, are allowed.
    package var permits: @Sendable (_ address: [UInt8]) -> Bool = { _ in true }

    package init(_ relay: RelayURL) { self.relay = relay }

    package func run() async -> RelayProbeReport {
        let (wires, opened) = AsyncStream.makeStream(of: RelayWire.self)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await wire in wires { group.addTask { await wire.serve() } }
                }
            }
            let examiner = RelayExaminer(self, opened: opened)
            let report = await examiner.run()
            opened.finish()
            group.cancelAll()
            await group.waitForAll()
            for wire in examiner.wires { await wire.discard() }
            return report
        }
    }
}

/// A probe in progress; used by one task.
final class RelayExaminer {
    let probe: RelayProbe
    let relay: RelayURL
    let budget: ProbeBudget
    private let opened: AsyncStream<RelayWire>.Continuation
    private(set) var wires: [RelayWire] = []
    let began = ContinuousClock.now
    var report: RelayProbeReport
    var information: RelayInformation?
    /// The relay's address, once it is resolved.
    var address: SocketAddress?
    /// Signs all events of the probe.
    let author = ThrowawayEvent.keys()
    let visitor = ThrowawayEvent.keys()
    let group = ThrowawayEvent.keys().publicKey.hex
    /// Seconds added to the local time so that the relay accepts events; 0 unless its clock is off.
    var shift: Int64 = 0
    /// Events that the relay has accepted; deleted at the end.
    var accepted: [Event] = []
    /// Whether the relay sends `EOSE`.
    var sendsEOSE = true
    var loginOutcome: PublishOutcome?
    /// Phases in which the relay demanded a login, with its message; judged once the login's outcome is known.
    var authRefusals: [RelayPhase: String] = [:]

    init(_ probe: RelayProbe, opened: AsyncStream<RelayWire>.Continuation) {
        (self.probe, self.opened, relay) = (probe, opened, probe.relay)
        // Reserve time to delete the written events in any case.
        let reserve = probe.writes ? min(.seconds(1), probe.timeout / 10) : .zero
        budget = ProbeBudget(probe.timeout, step: probe.stepTimeout, reserve: reserve)
        report = RelayProbeReport(probe.relay)
    }

    func run() async -> RelayProbeReport {
        if let address = await reach(), let listener = await upgrade(address) {
            await readInformation(address)
            await runExchanges(listener)
            if !isDead {
                await judgeLogin()
                await judgeConformance()
                judgeInformation()
            }
        }
        for wire in wires { wire.close() }
        completePhases()
        report.duration = .now - began
        return report
    }

    private func runExchanges(_ listener: RelayWire) async {
        let live = await subscribe(listener)
        guard live != nil || !isDead else { return }
        guard probe.writes else { return await checkReadOnly(listener) }
        guard let writer = await openConnection(for: .write) else { return }
        await write(writer, listener)
        guard !isDead else { return }
        await checkLiveDelivery(listener, live)
        await writeQuerySamples(writer)
        await checkReadback()
        await checkDuplicate(writer)
        await checkSize()
        await checkExpiration()
        await checkDeletion(writer)
        await checkRate()
    }

    /// Whether the relay cannot be examined any further.
    var isDead: Bool { !report.isReachable }

    /// Opens another connection; a failure is reported as a fault of the phase that needs it.
    func openConnection(for phase: RelayPhase) async -> RelayWire? {
        guard let address, !budget.isSpent else { return nil }
        let began = ContinuousClock.now
        do { return try await open(address) } catch {
            fail(
                .connectionLost, phase, .error, since: began, "refuses another connection: \(error)",
                "ask its operator for the connection limit per address")
            return nil
        }
    }

    /// Throws ``NetworkError``.
    func open(_ address: SocketAddress) async throws(NetworkError) -> RelayWire {
        var configuration = TransportConfiguration()
        configuration.connectTimeout = max(.milliseconds(1), budget.limit)
        configuration.closeTimeout = TLSReach.closeTimeout
        configuration.maximumMessageBytes = WireLimits.messageBytes
        configuration.trustRootFiles = probe.trustRootFiles
        do {
            let connector = try WebSocketConnector(
                configuration, generator: SharedGenerator(SystemRandomNumberGenerator()))
            let login = probe.login ?? Self.signer(visitor)
            let wire = RelayWire(try await connector.connect(to: relay, at: address), relay: relay, login: login)
            wires.append(wire)
            opened.yield(wire)
            return wire
        } catch let error as TransportError {
            throw NetworkError(error.message)
        } catch {
            throw NetworkError(PlainText.of(Disconnection(connecting: error).text))
        }
    }

    private static func signer(_ keys: KeyPair) -> RelayPool.Signer {
        { challenge, relay in
            var generator = SystemRandomNumberGenerator()
            return NIP42.draft(challenge: challenge, relay: relay, by: keys.publicKey, now: ThrowawayEvent.now)
                .signed(by: keys, using: &generator)
        }
    }
}
