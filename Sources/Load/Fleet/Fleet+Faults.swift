import LoadReport
import Nostr

extension Fleet {
    /// Injects the plan's faults into relays and agents, at their times from `start` on.
    func injectFaults(from start: Duration, gates: [Int: RelayGate]) async {
        await withDiscardingTaskGroup { tasks in
            // Faults of one relay run in sequence: one that ends late must not open the gate during the next.
            for faults in Dictionary(grouping: plan.faults, by: \.relay).values {
                tasks.addTask {
                    for fault in faults.sorted(by: { $0.at < $1.at }) { await self.inject(fault, from: start, gates) }
                }
            }
        }
    }

    private func inject(_ fault: LoadPlan.Fault, from start: Duration, _ gates: [Int: RelayGate]) async {
        do {
            try await ContinuousClock().sleep(until: timeline.instant(start + fault.at))
            switch fault.action {
            case .down(let relay, let length): try await apply(relay, gates[relay], .down, "relay down", for: length)
            case .stall(let relay, let length):
                try await apply(relay, gates[relay], .stalled, "relay stalled", for: length)
            case .restartAgents(let share):
                let began = timeline.now
                recorder.injected(
                    LoadFault(from: began, action: "agents restarted", target: "\(restart(share)) agents"))
            }
        } catch { return }
    }

    /// Applies a fault at a gate for a while. The gate is always reopened, even if the test is cancelled.
    private func apply(
        _ relay: Int, _ gate: RelayGate?, _ state: RelayGate.State, _ action: String, for length: Duration
    ) async throws {
        guard let gate else { return }
        let began = timeline.now
        let number = recorder.injected(
            LoadFault(from: began, to: began + length, action: action, target: plan.relays[relay].string))
        gate.set(state)
        defer {
            gate.set(.open)
            recorder.ended(fault: number, at: timeline.now)
        }
        try await Task.sleep(for: length)
    }

    private func restart(_ share: Double) -> Int {
        let count = max(1, Int((Double(agents.count) * share).rounded()))
        let chosen = draw { agents.indices.shuffled(using: &$0) }.prefix(count)
        for index in chosen {
            monitor.beginRun(index)
            agents[index].end()
            agents[index].start()
        }
        return chosen.count
    }
}
