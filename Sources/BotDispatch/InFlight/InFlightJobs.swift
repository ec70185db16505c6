import BotKit
import Synchronization

/// Counts how many processes have died while a job was in flight.
///
/// Each job is written to a crash journal before its handlers run and removed after them. A job in the journal at the
/// start of a process was in flight when the previous one died, possibly along with others. From then on such a job
/// runs alone. If the process dies again, the job was the cause, unless the process was killed at just that time; after
/// the third death the job is abandoned.
final class InFlightJobs: Sendable {
    private struct Entry {
        let key: UInt64
        var deaths: Int
        var isInFlight: Bool
    }

    /// A job that was in flight at this number of deaths is not started again.
    static let maximumDeaths = 3
    /// The maximum number of lines in the journal, which is more than the jobs that can be in flight at once.
    private static let maximumEntries = 64

    private let storage: any InFlightStorage
    private let state = Mutex<(entries: [Entry], isClosed: Bool)>(([], false))

    init(storage: any InFlightStorage) {
        self.storage = storage
    }

    /// Reads the journal of the previous process; must be called first.
    func recover() {
        state.withLock { state in
            state.entries = Self.parse(storage.read() ?? [])
            guard state.entries.contains(where: \.isInFlight) else { return }
            for index in state.entries.indices where state.entries[index].isInFlight {
                state.entries[index].deaths += 1
                state.entries[index].isInFlight = false
            }
            storage.write(Self.bytes(state.entries))
        }
    }

    func deaths(of job: BotJob) -> Int {
        state.withLock { state in state.entries.first { $0.key == job.journalKey }?.deaths ?? 0 }
    }

    /// Returns whether the job may have caused the death of an earlier process.
    func isSuspect(_ job: BotJob) -> Bool { (1..<Self.maximumDeaths).contains(deaths(of: job)) }

    /// Records that the job's handlers are about to run.
    func begin(_ job: BotJob) {
        update { entries in
            let key = job.journalKey
            if let index = entries.firstIndex(where: { $0.key == key }) {
                entries[index].isInFlight = true
                return
            }
            if entries.count >= Self.maximumEntries, let oldest = entries.firstIndex(where: { !$0.isInFlight }) {
                entries.remove(at: oldest)
            }
            if entries.count < Self.maximumEntries { entries.append(Entry(key: key, deaths: 0, isInFlight: true)) }
        }
    }

    /// Records that the job's handlers have run; or, if it is not done, that it was interrupted in an orderly way.
    func end(_ job: BotJob, isDone: Bool) {
        update { entries in
            guard let index = entries.firstIndex(where: { $0.key == job.journalKey }) else { return }
            entries[index].isInFlight = false
            if isDone || entries[index].deaths == 0 { entries.remove(at: index) }
        }
    }

    /// Records an orderly end of the process: jobs interrupted from now on are not suspect.
    func close() {
        update { entries in
            entries.removeAll { !(1..<Self.maximumDeaths).contains($0.deaths) }
            for index in entries.indices { entries[index].isInFlight = false }
        }
        state.withLock { $0.isClosed = true }
    }

    private func update(_ body: (inout [Entry]) -> Void) {
        state.withLock { state in
            guard !state.isClosed else { return }
            body(&state.entries)
            storage.write(Self.bytes(state.entries))
        }
    }

    // MARK: Encoding

    /// Encodes each entry as a line: key in hex, deaths, and `1` if it is in flight.
    private static func bytes(_ entries: [Entry]) -> [UInt8] {
        var text = ""
        for entry in entries { text += "\(String(entry.key, radix: 16)) \(entry.deaths) \(entry.isInFlight ? 1 : 0)\n" }
        return Array(text.utf8)
    }

    /// Decodes entries, ignoring unreadable lines.
    private static func parse(_ bytes: [UInt8]) -> [Entry] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").prefix(maximumEntries).compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count == 3, let key = UInt64(parts[0], radix: 16), let deaths = Int(parts[1]),
                (0...maximumDeaths).contains(deaths)
            else { return nil }
            return Entry(key: key, deaths: deaths, isInFlight: parts[2] == "1")
        }
    }
}

extension BotJob {
    /// A key of the job that is the same in later processes: FNV-1a of its identifying fields.
    var journalKey: UInt64 {
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
