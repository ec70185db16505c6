package import CallMedia
import Synchronization

/// The media relay of a lab, for any address that calls name, with faults chosen by the test.
///
/// Faults are drawn for each track from the seed, so that runs are repeatable.
package final class LabCallNetwork: CallMediaTransport {
    /// The fault rates of a track's groups; each group is drawn separately.
    package struct Faults: Sendable, Hashable {
        /// The fraction of groups lost, 0 to 1.
        package var loss: Double
        /// The fraction of groups with one more copy, 0 to 1; a lost group with one arrives once.
        package var duplication: Double
        /// The fraction of groups delayed until up to ``disorder`` later ones have passed.
        package var delay: Double
        /// Maximum number of later groups that overtake a delayed one, at least 1. A group still delayed at the end of
        /// its track is lost.
        package var disorder: Int

        /// Creates fault rates, by default none; raises `disorder` to 1.
        package init(loss: Double = 0, duplication: Double = 0, delay: Double = 0, disorder: Int = 3) {
            self.loss = loss
            self.duplication = duplication
            self.delay = delay
            self.disorder = max(1, disorder)
        }

        /// No faults.
        package static let fair = Faults()
    }

    fileprivate struct State {
        var faults = Faults.fair
        var isDown = false
        var replacement: [UInt8]?
        var written: [CallTrackAddress: [CallMediaGroup]] = [:]
    }

    private let seed: UInt64
    private let loopback = CallLoopback()
    fileprivate let state = Mutex(State())

    /// Creates a relay without faults; the seed decides which groups later faults affect.
    package init(seed: UInt64) {
        self.seed = seed
    }

    /// Applies to all groups written from now on.
    package func setFaults(_ faults: Faults) { self.state.withLock { $0.faults = faults } }

    /// Refuses new connections and fails writes while down.
    package func setDown(_ isDown: Bool) { self.state.withLock { $0.isDown = isDown } }

    /// Replaces the payload of every group written from now on; nil restores the writer's own.
    package func replaceEverything(with bytes: [UInt8]?) { self.state.withLock { $0.replacement = bytes } }

    /// All written groups, before any fault.
    package var written: [CallTrackAddress: [CallMediaGroup]] { self.state.withLock { $0.written } }

    /// Connects to the relay, which has every address; throws `LabError.Code.injectedFault` while it is down.
    package func connect(to url: String) async throws -> any CallMediaConnection {
        try self.check()
        return LabCallConnection(network: self, base: try await self.loopback.connect(to: url), seed: self.seed)
    }

    fileprivate func check() throws {
        if self.state.withLock({ $0.isDown }) { throw LabError(.injectedFault, "the media relay is down") }
    }
}

private struct LabCallConnection: CallMediaConnection {
    let network: LabCallNetwork
    let base: any CallMediaConnection
    let seed: UInt64

    func publish(_ address: CallTrackAddress) async throws -> any CallTrackWriter {
        LabCallWriter(
            network: self.network, address: address, base: try await self.base.publish(address), seed: self.seed)
    }

    func subscribe(_ address: CallTrackAddress) async throws -> AsyncThrowingStream<CallMediaGroup, any Error> {
        try await self.base.subscribe(address)
    }

    func close() async { await self.base.close() }
}

private final class LabCallWriter: CallTrackWriter {
    fileprivate struct Luck {
        var generator: SeededGenerator
        /// Delayed groups, with the number of later groups that may still pass them.
        var kept: [(group: CallMediaGroup, remaining: Int)] = []
    }

    private let network: LabCallNetwork
    private let address: CallTrackAddress
    private let base: any CallTrackWriter
    private let luck: Mutex<Luck>

    init(network: LabCallNetwork, address: CallTrackAddress, base: any CallTrackWriter, seed: UInt64) {
        self.network = network
        self.address = address
        self.base = base
        self.luck = Mutex(Luck(generator: SeededGenerator(seed: seed, stream: "\(address.path)/\(address.track)")))
    }

    func write(_ group: CallMediaGroup) async throws {
        try self.network.check()
        let (faults, replacement) = self.network.state.withLock { state in
            state.written[self.address, default: []].append(group)
            return (state.faults, state.replacement)
        }
        var group = group
        if let replacement { group.payload = replacement }
        let passing = self.luck.withLock { $0.pass(group, faults) }
        for group in passing { try await self.base.write(group) }
    }
}

extension LabCallWriter.Luck {
    /// Returns the groups that arrive now.
    fileprivate mutating func pass(
        _ group: CallMediaGroup, _ faults: LabCallNetwork.Faults
    ) -> [CallMediaGroup] {
        var passing: [CallMediaGroup] = []
        var copies = Double.random(in: 0..<1, using: &self.generator) < faults.loss ? 0 : 1
        if Double.random(in: 0..<1, using: &self.generator) < faults.duplication { copies += 1 }
        let waits = Double.random(in: 0..<1, using: &self.generator) < faults.delay
        let turns = Int.random(in: 1...faults.disorder, using: &self.generator)
        for index in self.kept.indices { self.kept[index].remaining -= 1 }
        for _ in 0..<copies {
            if waits { self.kept.append((group, turns)) } else { passing.append(group) }
        }
        passing += self.kept.filter { $0.remaining <= 0 }.map(\.group)
        self.kept.removeAll { $0.remaining <= 0 }
        return passing
    }
}
