import BotKit
import PikaCore

/// When each schedule of an account's bots is due. Pure.
struct ScheduleBook {
    private struct Entry {
        let declaration: ScheduleDeclaration
        /// When it was last dealt with, Unix milliseconds.
        var last: Int64?
        /// Unix milliseconds; nil if it never comes again, or while a run is at work.
        var due: Int64?
        var isCatchUp = false

        /// Waits for the next time after now. A clock that was set back does not bring times again; one that was a day
        /// or more ahead is not believed.
        mutating func wait(_ now: Int64) {
            let last = last.flatMap { $0 > now && $0 - now < 86_400_000 ? $0 : nil }
            due = declaration.schedule.next(afterMilliseconds: max(now, last ?? now))
        }
    }

    private var entries: [ScheduleID: Entry] = [:]

    /// When the next one is due, Unix milliseconds.
    var next: Int64? { entries.values.compactMap(\.due).min() }

    /// Puts in the schedules of these bots in place of those before; one that is as it was goes on as it was.
    ///
    /// - Parameter marks: when each was last dealt with, Unix milliseconds.
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

    /// What is due, in order; a schedule is at work from then on, until ``finish(_:nowMilliseconds:)``. Those of other
    /// bots are left out, and go on with their next time.
    mutating func takeDue(nowMilliseconds now: Int64, of bots: Set<String>) -> [(id: ScheduleID, run: ScheduleRun)] {
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

    /// What is due of these bots, which are paused: it is left out for good. When each was dealt with, Unix milliseconds.
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

    /// A run has ended: what became due while it was at work is left out.
    mutating func finish(_ id: ScheduleID, nowMilliseconds now: Int64) {
        guard entries[id]?.due == .some(nil) else { return }
        entries[id]?.wait(now)
    }
}

/// When a schedule was last dealt with, as it is kept.
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
