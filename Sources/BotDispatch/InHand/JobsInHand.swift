import BotKit
import Synchronization

/// How often a process has died with a job in hand, across processes.
///
/// Each job is noted before its handlers run and struck out after them. What is noted when the next process begins was in
/// hand when the last one died, together with what else was. Such a job runs alone from then on. If the process dies again
/// it was this one, or somebody has killed the process just then; at the third death it is given up.
final class JobsInHand: Sendable {
    private struct Entry {
        let key: UInt64
        var deaths: Int
        var isHeld: Bool
    }

    /// A job that was in hand at so many deaths is not begun again.
    static let maximumDeaths = 3
    /// More than can be in hand at once; a line each.
    private static let maximumEntries = 64

    private let page: any HandPage
    private let state = Mutex<(entries: [Entry], isSettled: Bool)>(([], false))

    init(page: any HandPage) {
        self.page = page
    }

    /// Takes up what an earlier process has left; before anything else.
    func recover() {
        state.withLock { state in
            state.entries = Self.parse(page.read() ?? [])
            guard state.entries.contains(where: \.isHeld) else { return }
            for index in state.entries.indices where state.entries[index].isHeld {
                state.entries[index].deaths += 1
                state.entries[index].isHeld = false
            }
            page.write(Self.bytes(state.entries))
        }
    }

    func deaths(of job: BotJob) -> Int {
        state.withLock { state in state.entries.first { $0.key == job.handKey }?.deaths ?? 0 }
    }

    /// Whether it may have been what an earlier process died of.
    func isSuspect(_ job: BotJob) -> Bool { (1..<Self.maximumDeaths).contains(deaths(of: job)) }

    /// Its handlers are about to run.
    func take(_ job: BotJob) {
        change { entries in
            let key = job.handKey
            if let index = entries.firstIndex(where: { $0.key == key }) {
                entries[index].isHeld = true
                return
            }
            if entries.count >= Self.maximumEntries, let oldest = entries.firstIndex(where: { !$0.isHeld }) {
                entries.remove(at: oldest)
            }
            if entries.count < Self.maximumEntries { entries.append(Entry(key: key, deaths: 0, isHeld: true)) }
        }
    }

    /// Its handlers have run; or, if it is not done, the process ends before they have, in good order.
    func putDown(_ job: BotJob, isDone: Bool) {
        change { entries in
            guard let index = entries.firstIndex(where: { $0.key == job.handKey }) else { return }
            entries[index].isHeld = false
            if isDone || entries[index].deaths == 0 { entries.remove(at: index) }
        }
    }

    /// The process is about to end in good order: whatever is cut off now was not the cause.
    func settle() {
        change { entries in
            entries.removeAll { !(1..<Self.maximumDeaths).contains($0.deaths) }
            for index in entries.indices { entries[index].isHeld = false }
        }
        state.withLock { $0.isSettled = true }
    }

    private func change(_ body: (inout [Entry]) -> Void) {
        state.withLock { state in
            guard !state.isSettled else { return }
            body(&state.entries)
            page.write(Self.bytes(state.entries))
        }
    }

    // MARK: Written form

    /// A line each: key in hex, deaths, and `1` if it is in hand.
    private static func bytes(_ entries: [Entry]) -> [UInt8] {
        var text = ""
        for entry in entries { text += "\(String(entry.key, radix: 16)) \(entry.deaths) \(entry.isHeld ? 1 : 0)\n" }
        return Array(text.utf8)
    }

    /// What cannot be read is left out.
    private static func parse(_ bytes: [UInt8]) -> [Entry] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").prefix(maximumEntries).compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count == 3, let key = UInt64(parts[0], radix: 16), let deaths = Int(parts[1]),
                (0...maximumDeaths).contains(deaths)
            else { return nil }
            return Entry(key: key, deaths: deaths, isHeld: parts[2] == "1")
        }
    }
}

extension BotJob {
    /// Names the job also in later processes: FNV-1a of what tells it from others.
    var handKey: UInt64 {
        let name =
            switch self {
            case .event(let event): "event/\(event.inboxID)/\(event.inputID)"
            case .schedule(let id, let run): "schedule/\(id.bot)/\(id.name)/\(run.dueMilliseconds)"
            case .timer(let bot, let run):
                "timer/\(bot)/\(run.chatID)/\(run.key)/\(run.dueMilliseconds)/\(run.name)"
            }
        return name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
