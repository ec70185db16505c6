import LoadReport
import Synchronization

/// Which part of a test is under way, and when the others were.
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

    /// When the plan's last stage is to end, once the first has begun.
    var planned: Duration? { state.withLock { $0.planned } }
    /// How long the plan's stages took, once they are over.
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
