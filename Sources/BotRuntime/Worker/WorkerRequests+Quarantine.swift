import BotDispatch
import Nostr
import PikaCore

extension WorkerRequests {
    /// Answers `quarantine` {release?, drop?}: the inputs quarantined because they crashed processes, after
    /// releasing or dropping the one entry with this prefix. Frames, relays, groups and rows are named by kind and
    /// name, events also by their id alone.
    mutating func answerQuarantine(_ core: AppCore) {
        on("quarantine") { question in
            for order in QuarantineOrder.allCases {
                guard let name = question[order.rawValue]?.string else { continue }
                if let error = await core.order(order, try core.quarantined(as: name)) {
                    throw WorkerRefusal(error.message)
                }
            }
            return ["entries": .array(core.quarantine.map(\.summary))]
        }
    }
}

extension AppCore {
    fileprivate nonisolated func quarantined(as name: String) throws(WorkerRefusal) -> CrashSubject {
        let found = quarantine.map(\.subject).filter { subject in
            "\(subject)".hasPrefix(name) || subject.name.hasPrefix(name)
        }
        guard let first = found.first else { throw WorkerRefusal("no quarantined item is named \(name)") }
        guard found.count == 1 || found.contains(where: { "\($0)" == name }) else {
            throw WorkerRefusal("\(found.count) entries begin with \(name); use a longer prefix")
        }
        return found.first { "\($0)" == name } ?? first
    }
}

extension JSONValue {
    /// Adds the quarantine entries of an event to an answer to `why`, for as long as they exist.
    func withQuarantine(_ entries: [QuarantineEntry], of query: String) -> JSONValue {
        let entries = entries.filter { $0.matches(eventPrefix: query.lowercased()) }
        guard !entries.isEmpty, var object = self.object else { return self }
        let known = (object["events"]?.array ?? []).isEmpty && (object["waiting_since"]?.array ?? []).isEmpty
        let earlier = known ? [] : object["lines"]?.array ?? []
        let lines = entries.flatMap { entry in
            [
                "quarantined as \(entry.subject): the worker ended \(entry.deaths) times while processing it "
                    + "(\(entry.stage.rawValue))",
                "  Skipped until released: pikabot quarantine FILE ACCOUNT --release \(entry.subject)",
            ]
        }
        object["lines"] = .array(earlier + lines.map { .string($0) })
        object["quarantine"] = .array(entries.map(\.summary))
        return .object(object)
    }
}
