package import LoadReport
package import Logging
import NIOCore
import NIOPosix
import Nostr
import PikaCore
import Telemetry

/// A load test: runs agents that found groups and perform the plan, and records the results.
package struct LoadTest: Sendable {
    package let plan: LoadPlan
    /// The plan as its author wrote it, for the reports.
    private let text: String
    private let name: String
    private let thresholds: [LoadThreshold]
    /// Folder of the agents' databases, if there are any.
    private let directory: String
    private let logger: Logger
    private let recorder = LoadRecorder()
    /// Timeout of actions that have no deadline of the plan.
    var actionTimeout = Duration.seconds(60)

    /// - Parameters:
    ///   - name: A short name of the test, such as the file name.
    ///   - directory: Folder for the agents' databases: empty or not existing. Nothing in it is deleted.
    ///
    /// Throws ``LoadReport/LoadReportError`` for invalid thresholds, and ``LoadError`` for faults that the relays do
    /// not support and for a folder that is not empty.
    package init(_ plan: LoadPlan, text: String, name: String, directory: String, logger: Logger) throws {
        try plan.checkFaults()
        try plan.checkOpenFiles(limit: OpenFiles.raiseLimit())
        if plan.agents.state == .disk { try AgentHost.requireEmpty(directory) }
        self.plan = plan
        self.text = text
        self.name = name
        self.directory = directory
        self.logger = logger
        thresholds = try LoadThreshold.all(
            Dictionary(plan.thresholds.map { ($0.name, $0.condition) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Runs the test and returns its result. A cancelled test ends early with the results so far.
    ///
    /// - Parameter progress: Called every second with the current stage and a function that makes a snapshot.
    /// - Throws: ``LoadError`` when it cannot start.
    package func run(
        progress: @escaping @Sendable (_ stage: String, _ snapshot: () -> LoadSnapshot) -> Void = { _, _ in }
    ) async throws -> LoadResult {
        let before = ProcessUsage.current()
        let startedAt = WallTime(unixMilliseconds: SystemClock().nowMilliseconds)
        let gates = try await openGates()
        let timeline = Timeline()
        let fleet = fleet(timeline, gates)
        let stages = StageLog()
        var canStart = false
        await withDiscardingTaskGroup { group in
            for agent in fleet.agents { group.addTask { await agent.run() } }
            group.addTask { await self.watch(fleet, stages, progress) }
            canStart = await perform(fleet, gates, stages)
            group.cancelAll()
        }
        for gate in gates.values { await gate.close() }
        guard canStart else {
            throw LoadError(
                .noRelay,
                "no agent could publish its key package to \(plan.relays.map(\.string).joined(separator: ", ")): check that "
                    + "a relay runs there and accepts kinds 443 and 30443 (`pikabot probe` tells what is wrong)")
        }
        let run = LoadRun(
            name: name, seed: plan.seed, plan: text, startedAt: startedAt, environment: environment,
            stages: stages.all)
        let cost = ProcessUsage.current().map { usage in before.map { usage.since($0) } ?? usage }
        return recorder.result(
            run, cost: cost ?? ProcessUsage(userSeconds: 0, systemSeconds: 0, peakMemoryBytes: 0), at: timeline.now,
            loaded: stages.loaded, thresholds: thresholds)
    }

    /// Runs the phases in order; returns false if the test could not start.
    private func perform(_ fleet: Fleet, _ gates: [Int: RelayGate], _ stages: StageLog) async -> Bool {
        let title = "start \(plan.agents.count) agents"
        guard await stages.run(title, fleet, { await fleet.ramp() }) || Task.isCancelled else { return false }
        if plan.groups.count > 0 {
            await stages.run("create \(plan.groups.count) groups", fleet) { await fleet.createGroups() }
        }
        if !plan.stages.isEmpty { await performStages(fleet, gates, stages) }
        await stages.run("settle", fleet) { await fleet.settle() }
        return true
    }

    private func performStages(_ fleet: Fleet, _ gates: [Int: RelayGate], _ stages: StageLog) async {
        let start = fleet.timeline.now
        stages.plan(until: start + plan.loaded)
        await withDiscardingTaskGroup { group in
            group.addTask { await fleet.injectFaults(from: start, gates: gates) }
            for stage in plan.stages where !Task.isCancelled {
                await stages.run(stage.title, fleet) { await fleet.perform(stage) }
            }
            group.cancelAll()
        }
        stages.note(loaded: fleet.timeline.now - start)
    }

    // MARK: Phases

    private func openGates() async throws -> [Int: RelayGate] {
        var gates: [Int: RelayGate] = [:]
        for index in Set(plan.faults.compactMap(\.relay)).sorted() {
            gates[index] = try await RelayGate.open(to: plan.relays[index])
        }
        return gates
    }

    private func fleet(_ timeline: Timeline, _ gates: [Int: RelayGate]) -> Fleet {
        // New keys in each run: a relay may still have events of an earlier run.
        var generator = SystemRandomNumberGenerator()
        let keys = (0..<plan.agents.count).map { _ in KeyPair.generate(using: &generator) }
        let indexes = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($0.element.publicKey, $0.offset) })
        let monitor = FleetMonitor(
            recorder: recorder, timeline: timeline, indexes: indexes,
            settlesBranches: plan.groups.groupProtocol != .v1)
        let host = AgentHost(state: plan.agents.state, directory: directory, logger: logger)
        // Key updates after joining are off: together they would be a storm that the plan does not contain.
        let configuration = CoreConfiguration(
            relays: plan.relays.enumerated().map { gates[$0.offset]?.address ?? $0.element }, invites: .anyone,
            selfUpdate: .never, readsProfiles: false, groupProtocol: plan.groups.groupProtocol)
        let executors = MultiThreadedEventLoopGroup.singleton.makeIterator().map(EventLoopExecutor.init)
        let agents = keys.enumerated().map { index, key in
            LoadAgent(
                index: index, key: key, configuration: configuration, host: host,
                executor: executors[index % executors.count], listener: monitor, logger: logger)
        }
        return Fleet(plan: plan, agents: agents, monitor: monitor, actionTimeout: actionTimeout)
    }

    /// Records CPU and memory use and reports progress, every second.
    private func watch(
        _ fleet: Fleet, _ stages: StageLog, _ progress: @Sendable (String, () -> LoadSnapshot) -> Void
    ) async {
        var usage = ProcessUsage.current()
        var last = fleet.timeline.now
        while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
            let now = fleet.timeline.now
            if let current = ProcessUsage.current() {
                let spent = current.since(usage ?? current)
                let busy = (spent.userSeconds + spent.systemSeconds) / ((now - last) / .seconds(1))
                recorder.gauge(.processors, busy, at: now)
                (usage, last) = (current, now)
            }
            if let bytes = ProcessMetrics.residentBytes() { recorder.gauge(.memory, bytes, at: now) }
            progress(stages.current) { recorder.snapshot(at: now, planned: stages.planned) }
        }
    }

    private var environment: LoadEnvironment {
        LoadEnvironment(
            host: .current(), software: "pikabot \(SoftwareVersion.current)", store: plan.agents.state.rawValue,
            relays: plan.relays.map(\.string))
    }
}
