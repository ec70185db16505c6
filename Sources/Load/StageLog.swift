import LoadReport
import Synchronization

/// Records the current stage of a test and the times of earlier ones.
final class StageLog: Sendable {
    private struct State {
        var stages: [LoadStage] = []
        var current = "start"
        var planned: Duration?
        var loaded: Duration?
    }

    private let state = Mutex(State())

    var current: String { state.withLock { $0.current } }
    var all: [LoadStage] { state.withLock { $0.stages } }

    /// Planned end of the last stage, once the first has begun.
    var planned: Duration? { state.withLock { $0.planned } }
    /// Actual duration of all stages, once they are over.
    var loaded: Duration? { state.withLock { $0.loaded } }

    func plan(until end: Duration) { state.withLock { $0.planned = end } }
    func note(loaded: Duration) { state.withLock { $0.loaded = loaded } }

    func run<Value>(_ name: String, _ fleet: Fleet, _ body: () async -> Value) async -> Value {
        let began = fleet.timeline.now
        state.withLock { $0.current = name }
        let value = await body()
        let ended = fleet.timeline.now
        state.withLock { $0.stages.append(LoadStage(name: name, from: began, to: ended)) }
        return value
    }
}
