import LoadReport
import Synchronization

/// Which part of a test is under way, and when the others were.
final class StageLog: Sendable {
    private struct State {
        var stages: [LoadStage] = []
        var current = "start"
    }

    private let state = Mutex(State())

    var current: String { state.withLock { $0.current } }
    var all: [LoadStage] { state.withLock { $0.stages } }

    func run<Value>(_ name: String, _ fleet: Fleet, _ body: () async -> Value) async -> Value {
        let began = fleet.timeline.now
        state.withLock { $0.current = name }
        let value = await body()
        let ended = fleet.timeline.now
        state.withLock { $0.stages.append(LoadStage(name: name, from: began, to: ended)) }
        return value
    }
}
