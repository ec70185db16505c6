import BotKit
import PikaCore

/// The due times of the schedules of an account's bots. Pure.
struct ScheduleQueue {
    private struct Entry {
        let declaration: ScheduleDeclaration
        /// The time up to which it is handled, Unix milliseconds.
        var last: Int64?
        /// Unix milliseconds; nil if it never runs again, or during a run.
        var due: Int64?
        var isCatchUp = false

        /// Waits for the next time after now. A clock that was set back does not repeat times; a last run a day or more
        /// in the future is ignored.
        mutating func wait(_ now: Int64) {
            let last = last.flatMap { $0 > now && $0 - now < 86_400_000 ? $0 : nil }
            due = declaration.schedule.next(afterMilliseconds: max(now, last ?? now))
        }
    }

    private var entries: [ScheduleID: Entry] = [:]

    /// The time at which the next schedule is due, in Unix milliseconds.
    var next: Int64? { entries.values.compactMap(\.due).min() }

    /// Replaces the schedules by those of these bots; unchanged schedules keep their state.
    ///
    /// - Parameter marks: the time up to which each is handled, Unix milliseconds.
    mutating func install(_ bots: [InstalledBot], marks: [ScheduleID: Int64], nowMilliseconds now: Int64) {
        let old = entries
        entries = [:]
        for bot in bots {
            for declaration in bot.schedules {
                let id = ScheduleID(bot: bot.label, name: declaration.name)
                if let known = old[id], known.declaration == declaration {
                    entries[id] = known
                } else {
                    entries[id] = Self.entry(declaration, mark: old[id] == nil ? marks[id] : nil, now)
                }
            }
        }
    }

    private static func entry(_ declaration: ScheduleDeclaration, mark: Int64?, _ now: Int64) -> Entry {
        var entry = Entry(declaration: declaration, last: mark)
        entry.wait(now)
        if declaration.catchesUp, let mark, let missed = declaration.schedule.next(afterMilliseconds: mark),
            missed <= now
        {
            (entry.due, entry.isCatchUp) = (missed, true)
        }
        return entry
    }

    /// Returns the due schedules in order; each of them runs until ``finish(_:nowMilliseconds:)``. Due runs of other
    /// bots are skipped.
    mutating func dequeueDue(nowMilliseconds now: Int64, of bots: Set<String>) -> [(id: ScheduleID, run: ScheduleRun)] {
        var found: [(id: ScheduleID, run: ScheduleRun)] = []
        for (id, entry) in entries {
            guard let due = entry.due, due <= now else { continue }
            entries[id]?.isCatchUp = false
            entries[id]?.last = due
            if bots.contains(id.bot) {
                entries[id]?.due = nil
                found.append((id, ScheduleRun(name: id.name, dueMilliseconds: due, isCatchUp: entry.isCatchUp)))
            } else {
                entries[id]?.wait(now)
            }
        }
        return found.sorted {
            ($0.run.dueMilliseconds, $0.id.bot, $0.id.name) < ($1.run.dueMilliseconds, $1.id.bot, $1.id.name)
        }
    }

    /// Skips the due runs of these bots, which are paused. Returns the time up to which each is handled, Unix
    /// milliseconds.
    mutating func skipDue(nowMilliseconds now: Int64, of bots: Set<String>) -> [(id: ScheduleID, mark: Int64)] {
        var skipped: [(id: ScheduleID, mark: Int64)] = []
        for (id, entry) in entries where bots.contains(id.bot) {
            guard let due = entry.due, due <= now else { continue }
            let mark = entry.isCatchUp ? max(due, now) : due
            entries[id]?.isCatchUp = false
            entries[id]?.last = mark
            entries[id]?.wait(now)
            skipped.append((id, mark))
        }
        return skipped.sorted { ($0.id.bot, $0.id.name) < ($1.id.bot, $1.id.name) }
    }

    /// Records the end of a run: runs that became due meanwhile are skipped.
    mutating func finish(_ id: ScheduleID, nowMilliseconds now: Int64) {
        guard entries[id]?.due == .some(nil) else { return }
        entries[id]?.wait(now)
    }
}

/// The stored time up to which a schedule is handled.
enum ScheduleMark {
    static func load(_ id: ScheduleID, from core: any HandlerCore) async throws -> Int64? {
        try await core.value(scope: scope(of: id.bot), key: id.name)
            .flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
    }

    static func effect(_ id: ScheduleID, _ milliseconds: Int64) -> HandlerEffect {
        HandlerEffect(
            id: "\(id.bot)/mark/\(id.name)",
            operation: .putValue(scope: scope(of: id.bot), key: id.name, value: Array("\(milliseconds)".utf8)))
    }

    private static func scope(of bot: String) -> String { "\(bot)/schedules" }
}
