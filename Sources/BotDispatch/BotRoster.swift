import BotKit
import PikaCore
import Synchronization

/// The bots of an account as they are now, and what is known of their schedules.
final class BotRoster: Sendable {
    private struct State {
        var bots: [InstalledBot]
        /// When each schedule was last dealt with, Unix milliseconds.
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

    /// Reads the marks of schedules that are not known yet. A new schedule is dealt with from now on: returns the
    /// effects that say so.
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
