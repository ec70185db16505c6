import BotKit
import PikaCore
import Synchronization

/// The current bots of an account, and the stored state of their schedules.
final class BotRoster: Sendable {
    private struct State {
        var bots: [InstalledBot]
        /// The time up to which each schedule is handled, Unix milliseconds.
        var marks: [ScheduleID: Int64] = [:]
    }

    private let state: Mutex<State>

    init(_ bots: [InstalledBot]) {
        state = Mutex(State(bots: bots))
    }

    var bots: [InstalledBot] { state.withLock { $0.bots } }
    var marks: [ScheduleID: Int64] { state.withLock { $0.marks } }

    func bot(_ label: String) -> InstalledBot? { bots.first { $0.label == label } }

    func replace(_ bots: [InstalledBot]) { state.withLock { $0.bots = bots } }

    func mark(_ id: ScheduleID, _ milliseconds: Int64) { state.withLock { $0.marks[id] = milliseconds } }

    /// Loads the marks of schedules that are not loaded yet. A new schedule is marked as handled up to now: returns the
    /// effects that store these marks.
    func loadMarks(
        of bots: [InstalledBot], from core: any HandlerCore, nowMilliseconds now: Int64
    ) async throws -> [HandlerEffect] {
        var new: [HandlerEffect] = []
        for bot in bots {
            for name in bot.schedules.map(\.name) {
                let id = ScheduleID(bot: bot.label, name: name)
                guard marks[id] == nil else { continue }
                if let known = try await ScheduleMark.load(id, from: core) {
                    mark(id, known)
                } else {
                    mark(id, now)
                    new.append(ScheduleMark.effect(id, now))
                }
            }
        }
        return new
    }
}
