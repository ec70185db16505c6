public import BotKit
import NIOCore
public import Nostr
public import RelayClient

/// Looks at one relay as a client of encrypted groups does, from its name to what it keeps and forgets.
///
/// Everything that it writes is by keys that are thrown away, ends after an hour (NIP-40), and is deleted at the end
/// (NIP-09). Whatever the relay does, it takes no longer than it may, and listens to no more than a few megabytes.
public struct RelayProbe: Sendable {
    public let relay: RelayURL
    /// Whether anything may be written.
    public var writes = true
    /// For all of it.
    public var timeout = Duration.seconds(20)
    /// For one step.
    public var patience = Duration.seconds(5)
    /// Logs in where the relay asks for it (NIP-42); nil: a key that is thrown away does.
    public var login: RelayPool.Signer?
    /// PEM files of certificate authorities that are trusted besides the system's.
    public var trustRootFiles: [String] = []
    /// Whether this address, 4 or 16 bytes in network order, may be connected to.
    public var permits: @Sendable (_ address: [UInt8]) -> Bool = { _ in true }

    public init(_ relay: RelayURL) { self.relay = relay }

    public func run() async -> RelayProbeReport {
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

/// One probe at work. Of one task.
final class RelayExaminer {
    let probe: RelayProbe
    let relay: RelayURL
    let budget: ProbeBudget
    private let opened: AsyncStream<RelayWire>.Continuation
    private(set) var wires: [RelayWire] = []
    let began = ContinuousClock.now
    var report: RelayProbeReport
    var information: RelayInformation?
    /// Where the relay is, once it was found.
    var address: SocketAddress?
    /// Writes everything.
    let author = ThrowawayEvent.keys()
    let visitor = ThrowawayEvent.keys()
    let group = ThrowawayEvent.keys().publicKey.hex
    /// What is added to our time so that the relay takes events; 0 unless its clock is off.
    var shift: Int64 = 0
    /// What it said `OK` to, and what is to be deleted.
    var accepted: [Event] = []
    /// Whether it ends what it stores with `EOSE`.
    var endsStored = true
    var loginOutcome: Publication?
    /// What it refuses until one has logged in, or even then, in its words.
    var barred: [RelayPhase: String] = [:]

    init(_ probe: RelayProbe, opened: AsyncStream<RelayWire>.Continuation) {
        (self.probe, self.opened, relay) = (probe, opened, probe.relay)
        // Whatever happens, what was written is deleted again.
        let reserve = probe.writes ? min(.seconds(1), probe.timeout / 10) : .zero
        budget = ProbeBudget(probe.timeout, step: probe.patience, reserve: reserve)
        report = RelayProbeReport(probe.relay)
    }

    func run() async -> RelayProbeReport {
        if let address = await reach(), let listener = await upgrade(address) {
            await readInformation(address)
            await converse(listener)
            if !isDead {
                await judgeLogin()
                await judgeManners()
                judgeInformation()
            }
        }
        for wire in wires { wire.close() }
        skipRest()
        report.duration = .now - began
        return report
    }

    private func converse(_ listener: RelayWire) async {
        let live = await subscribe(listener)
        guard live != nil || !isDead else { return }
        guard probe.writes else { return await readOnly(listener) }
        guard let writer = await another(.write) else { return }
        await write(writer, listener)
        guard !isDead else { return }
        await hearLive(listener, live)
        await writeForQuestions(writer)
        await readBack()
        await repeatOne(writer)
        await tryLarge()
        await lookForExpired()
        await delete(writer)
        await hurry()
    }

    /// Nothing more is to be learnt from it.
    var isDead: Bool { !report.isReachable }

    /// One more connection; its loss is a fault of the phase that needs it.
    func another(_ phase: RelayPhase) async -> RelayWire? {
        guard let address, !budget.isSpent else { return nil }
        let began = ContinuousClock.now
        do { return try await open(address) } catch {
            fail(
                .connectionLost, phase, .error, since: began, "takes no further connection: \(error)",
                "ask its operator how many connections one address may have")
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
