import ConsoleReports

/// Something that an operator should look at: the words of the health checks, the doctor and the alerts, and what to do.
package struct Problem: Sendable, Hashable {
    package enum Level: Int, Sendable, Hashable, Comparable {
        case error, warning

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    package var level: Level
    /// The account; nil for the program as a whole.
    package var account: String?
    package var text: String
    package var advice: String
}

extension ConsoleSnapshot {
    /// The problems of all accounts and of the configuration, errors first.
    package var problems: [Problem] {
        var problems = reload.problemList
        for account in accounts { problems += account.problems }
        // Stable: within a level in the order of the accounts.
        return problems.filter { $0.level == .error } + problems.filter { $0.level == .warning }
    }
}

extension ReloadStatus {
    fileprivate var problemList: [Problem] {
        var list: [Problem] = []
        if !problems.isEmpty {
            list.append(
                Problem(
                    level: .error, account: nil,
                    text: "the configuration file is invalid and was not applied (line \(problems[0].line))",
                    advice: "correct the file and reload it; the page Configuration shows each problem"))
        }
        for text in refused {
            list.append(
                Problem(
                    level: .error, account: nil, text: "a change was refused: \(text)",
                    advice: "correct the file and reload it, or restart the account"))
        }
        if !needsRestart.isEmpty {
            list.append(
                Problem(
                    level: .warning, account: nil,
                    text: "changes wait for a restart of the program: \(needsRestart.joined(separator: ", "))",
                    advice: "restart the service when it suits you"))
        }
        return list
    }
}

extension AccountStatus {
    package var problems: [Problem] {
        guard isExpected else { return [] }
        return workerProblems + (summary.map(problems) ?? [])
    }

    private func problem(_ level: Problem.Level, _ text: String, _ advice: String) -> Problem {
        Problem(level: level, account: name, text: text, advice: advice)
    }

    private var workerProblems: [Problem] {
        var list: [Problem] = []
        switch state {
        case "quarantined":
            list.append(
                problem(
                    .error, "quarantined: \(reason ?? lastExit ?? "too many restarts")",
                    "read its log, correct the cause, then restart it"))
        case "waiting":
            list.append(
                problem(
                    .error, "ended and waits for its next start: \(reason ?? lastExit ?? "unknown reason")",
                    "read its log if it does not recover"))
        case "stopped":
            list.append(problem(.warning, "stopped by an operator", "restart it when it should run again"))
        default: break
        }
        if let silence, isRunning, state == "ready" {
            list.append(
                problem(
                    .warning, "does not answer the console: \(silence)",
                    "the supervisor restarts a worker that hangs; read its log if it happens again"))
        }
        if !needsRestart.isEmpty {
            list.append(
                problem(
                    .warning, "changes wait for a restart of the account: \(needsRestart.joined(separator: ", "))",
                    "restart the account when it suits you"))
        }
        return list
    }

    private func problems(_ summary: AccountSummary) -> [Problem] {
        var list: [Problem] = []
        for check in summary.checks where !check.ok {
            let place = check.relay.map { " \($0)" } ?? ""
            list.append(
                problem(
                    check.check == "store" || check.check == "bots" ? .error : .warning,
                    "\(check.check)\(place): \(check.message)", Self.advice(for: check.check)))
        }
        if !summary.checks.isEmpty, summary.relays > 0, summary.connectedRelays == 0 {
            list.append(problem(.error, "is connected to no relay", "pikabot doctor FILE checks each relay"))
        }
        for group in summary.haltedGroups {
            list.append(
                problem(
                    .error, "cannot follow the history of a group: \(group)",
                    "let an admin invite the account again, or remove the member that floods the group with commits"))
        }
        for storm in summary.storms {
            list.append(
                problem(
                    .warning, "a member keeps undoing the commits of a group: \(storm)",
                    "remove the member and make five more commits, or found a new group without it"))
        }
        for entry in summary.quarantine {
            list.append(
                problem(
                    .warning, "input that crashed the worker is quarantined: \(entry)",
                    "report the crash with the log, and release it after an update with pikabot quarantine"))
        }
        for bot in summary.pausedBots {
            list.append(problem(.warning, "the bot \(bot) is paused", "resume it when it should answer again"))
        }
        return list
    }

    /// Returns what to do about a failed health check, as the alerts say it.
    private static func advice(for check: String) -> String {
        switch check {
        case "relay": "pikabot doctor FILE checks each relay"
        case "canary": "the relay does not forward events: use another one, or ask its operator"
        case "inbox": "a handler is slow: the account's page shows the time of its handlers"
        case "outbox": "relays refuse the account's events or are unreachable: the account's page shows them"
        case "key_package": "pikabot doctor FILE checks what others find when they want to invite the account"
        case "bots": "read the account's log; a restart ends handlers that hang"
        case "store": "check the free space and the permissions of the state directory"
        default: "read the account's log"
        }
    }
}
