import LoadReport
import Nostr

extension Fleet {
    /// Does to relays and agents what the plan says, at its times from `start` on.
    func injectFaults(from start: Duration, gates: [Int: RelayGate]) async {
        await withDiscardingTaskGroup { tasks in
            for fault in plan.faults {
                tasks.addTask { await self.inject(fault, from: start, gates) }
            }
        }
    }

    private func inject(_ fault: LoadPlan.Fault, from start: Duration, _ gates: [Int: RelayGate]) async {
        do {
            try await ContinuousClock().sleep(until: timeline.instant(start + fault.at))
            switch fault.action {
            case .down(let relay, let length):
                note("relay down", plan.relays[relay].string, length)
                try await hold(gates[relay], .down, for: length)
            case .stall(let relay, let length):
                note("relay stalled", plan.relays[relay].string, length)
                try await hold(gates[relay], .stalled, for: length)
            case .restartAgents(let share):
                note("agents restarted", "\(restart(share)) agents", .zero)
            }
        } catch { return }
    }

    private func note(_ action: String, _ target: String, _ length: Duration) {
        let began = timeline.now
        let end = length == .zero ? nil : began + length
        recorder.injected(LoadFault(from: began, to: end, action: action, target: target))
    }

    /// The gate opens again in any case, also when the test is cancelled meanwhile.
    private func hold(_ gate: RelayGate?, _ state: RelayGate.State, for length: Duration) async throws {
        guard let gate else { return }
        gate.set(state)
        defer { gate.set(.open) }
        try await Task.sleep(for: length)
    }

    private func restart(_ share: Double) -> Int {
        let count = max(1, Int((Double(agents.count) * share).rounded()))
        let chosen = roll { agents.indices.shuffled(using: &$0) }.prefix(count)
        for index in chosen {
            board.starts(index)
            agents[index].end()
            agents[index].start()
        }
        return chosen.count
    }
}
