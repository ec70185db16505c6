import Nostr
import PikaCore
import Telemetry

/// The output of `status` as text.
struct StatusView {
    let result: JSONValue

    /// Whether every account is ready, except those that have ended as intended.
    var isGood: Bool { workers.allSatisfy { $0["state"]?.string == "ready" || $0["expected"]?.bool == false } }

    private var workers: [JSONValue] { result["workers"]?.array ?? [] }

    var text: String {
        let shard = result["configuration"]?["shard"]?.string.map { ", shard \($0)" } ?? ""
        let up = Self.duration(result["uptime"]?.integer ?? 0)
        var lines = ["process \(Self.number(result["pid"])), up \(up)\(shard)"]
        guard !workers.isEmpty else {
            lines.append("no account in the configuration file belongs to this shard")
            return Self.text(lines + configurationNotes)
        }
        lines += Self.table(
            [["ACCOUNT", "STATE", "PROCESS", "UP", "RESTARTS", "RELAYS", "CHATS", "OUTBOX"]] + workers.map(row))
        lines += programs
        lines += feeds
        for worker in workers { lines += notes(worker) }
        lines += configurationNotes
        return Self.text(lines)
    }

    private static func text(_ lines: [String]) -> String {
        lines.map(\.terminalLine).joined(separator: "\n")
    }

    private func row(_ worker: JSONValue) -> [String] {
        let own = worker["worker"]
        let relays = own?["relays"]?.array.map { relays in
            "\(relays.count { $0["connected"]?.bool == true }) of \(relays.count)"
        }
        return [
            worker["name"]?.string ?? "-", worker["state"]?.string ?? "-", Self.number(worker["pid"]),
            worker["age"]?.integer.map(Self.duration) ?? "-", Self.number(worker["restarts"]), relays ?? "-",
            Self.number(own?["chats"]), Self.number(own?["outbox"]),
        ]
    }

    /// The table of external bots; empty if absent.
    private var programs: [String] {
        let rows = workers.flatMap { worker in
            (worker["worker"]?["programs"]?.array ?? []).map { program in
                [
                    worker["name"]?.string ?? "-", program["name"]?.string ?? "-", program["state"]?.string ?? "-",
                    program["age"]?.integer.map(Self.duration) ?? "-", Self.number(program["restarts"]),
                    Self.number(program["waiting"]),
                ]
            }
        }
        guard !rows.isEmpty else { return [] }
        return Self.table([["ACCOUNT", "PROGRAM", "STATE", "UP", "RESTARTS", "EVENTS WAITING"]] + rows)
    }

    /// The table of feeds; empty if absent.
    private var feeds: [String] {
        var rows: [[String]] = []
        for worker in workers {
            let account = worker["name"]?.string ?? "-"
            for feed in worker["worker"]?["feeds"]?.array ?? [] { rows.append([account] + Self.cells(of: feed)) }
        }
        guard !rows.isEmpty else { return [] }
        let header = ["ACCOUNT", "FEED", "KIND", "STATE", "FOR", "LAST ITEM", "STORED", "ERRORS", "LAST ERROR"]
        return Self.table([header] + rows)
    }

    private static func cells(of feed: JSONValue) -> [String] {
        func text(_ name: String) -> String { feed[name]?.string ?? "-" }
        func age(_ name: String) -> String { feed[name]?.integer.map(Self.duration) ?? "-" }
        var cells: [String] = [text("name"), text("kind"), text("state"), age("age"), age("lastItemAge")]
        cells += [Self.number(feed["stored"]), Self.number(feed["errors"]), text("lastError")]
        return cells
    }

    private func notes(_ worker: JSONValue) -> [String] {
        let name = worker["name"]?.string ?? "-"
        var notes: [String] = []
        if let reason = worker["reason"]?.string, worker["state"]?.string != "ready" {
            notes.append("\(name): \(reason)")
        } else if let exit = worker["lastExit"]?.string, worker["state"]?.string != "ready" {
            notes.append("\(name): last exit: \(exit)")
        }
        for storm in worker["worker"]?["rollbackStorms"]?.array ?? [] {
            notes.append("\(name): \(Self.text(ofStorm: storm))")
        }
        for group in worker["worker"]?["haltedGroups"]?.array ?? [] {
            notes.append("\(name): \(Self.text(ofHaltedGroup: group))")
        }
        for entry in worker["worker"]?["quarantine"]?.array ?? [] {
            notes.append("\(name): quarantined: \(QuarantineView.line(entry))")
        }
        let waiting = worker["needsRestart"]?.array?.compactMap(\.string) ?? []
        if !waiting.isEmpty {
            notes.append("\(name): changes that need a restart of the account: \(waiting.joined(separator: ", "))")
        }
        return notes
    }

    /// Returns one entry of `haltedGroups` as text.
    static func text(ofHaltedGroup group: JSONValue) -> String {
        let chat = group["chat"]?.string?.prefix(8) ?? "-"
        return "cannot follow the history of chat \(chat): \(group["state"]?.string ?? "-") "
            + "(\(group["reason"]?.string ?? "-"))"
    }

    /// Returns one entry of `rollbackStorms` as text.
    static func text(ofStorm storm: JSONValue) -> String {
        let role = RollbackRole(rawValue: storm["role"]?.string ?? "")
        let words = role == .removed ? "a removed member" : role == .admin ? "an admin" : "a member"
        let chat = storm["chat"]?.string?.prefix(8) ?? "-"
        let age = storm["age"]?.integer.map(Self.duration) ?? "-"
        return "\(storm["committer"]?.string ?? "-"), \(words), has rolled back commits of chat \(chat) "
            + "\(Self.number(storm["count"])) times, last \(age) ago"
    }

    private var configurationNotes: [String] {
        let configuration = result["configuration"]
        var notes: [String] = []
        if let last = configuration?["lastReload"], last["success"]?.bool == false {
            let lists = [
                ("problems", "The file is invalid and was not applied; the previous configuration stays in effect:"),
                ("refused", "Accounts that rejected the last changes:"),
            ]
            for (member, title) in lists {
                let lines = last[member]?.array?.compactMap(\.string) ?? []
                if !lines.isEmpty { notes += [title] + lines.map { "  \($0)" } }
            }
        }
        let waiting = configuration?["needsRestart"]?.array?.compactMap(\.string) ?? []
        if !waiting.isEmpty {
            notes.append("Changes that need a restart of the supervisor: \(waiting.joined(separator: ", "))")
        }
        return notes
    }

    private static func number(_ value: JSONValue?) -> String { value?.integer.map(String.init) ?? "-" }

    /// Returns a duration such as `3d 4h`, `4h 5min`, `5min 6s`.
    static func duration(_ seconds: Int64) -> String {
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        let first = parts.firstIndex { $0.0 > 0 } ?? 3
        return parts[first...].prefix(2).map { "\($0.0)\($0.1)" }.joined(separator: " ")
    }

    /// Formats rows as columns, separated by two spaces.
    private static func table(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
                .trimmingSuffix { $0 == " " }
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(while isPart: (Character) -> Bool) -> String {
        guard let last = lastIndex(where: { !isPart($0) }) else { return "" }
        return String(self[...last])
    }
}
