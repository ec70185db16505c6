package import ConsoleReports

/// The state of the whole program as the console shows it: one value, replaced at every change.
///
/// ``rev`` rises with every change, and pages drop updates that are not newer than what they show.
package struct ConsoleSnapshot: Sendable, Hashable {
    package var rev: UInt64 = 0
    /// Unix seconds.
    package var takenAt: Int64 = 0
    package var process: Int32 = 0
    /// Seconds since the supervisor's start.
    package var uptime: Int64 = 0
    package var version = ""
    package var file = ""
    package var shard: String?
    package var accounts: [AccountStatus] = []
    package var reload = ReloadStatus()
    /// The newest actions of operators, newest first.
    package var actions: [ActionRecord] = []

    package init() {}

    package func account(_ name: String) -> AccountStatus? { accounts.first { $0.name == name } }
}

/// One account: what the supervisor knows of its worker, and the worker's own report.
package struct AccountStatus: Sendable, Hashable {
    package var name: String
    /// `starting`, `ready`, `draining`, `stopping`, `waiting`, `quarantined`, `finished` or `stopped`.
    package var state = "starting"
    package var process: Int32?
    /// Unix seconds at which the process started.
    package var since: Int64?
    package var restarts = 0
    package var lastExit: String?
    /// The reason of a quarantine, or the worker's report of its last failure.
    package var reason: String?
    /// Changes of the configuration that apply only after a restart.
    package var needsRestart: [String] = []
    /// Whether the worker should be running.
    package var isExpected = true
    /// Nil while the worker does not answer.
    package var summary: AccountSummary?
    /// The reason why the worker does not answer.
    package var silence: String?
    package var history = SampleRing()

    package init(name: String) {
        self.name = name
    }

    /// Whether a process exists that can answer.
    package var isRunning: Bool { process != nil }
}

/// The outcome of the last reload, and the changes that wait for a restart of the program.
package struct ReloadStatus: Sendable, Hashable {
    /// Unix seconds; nil if the file was not reloaded yet.
    package var at: Int64?
    package var isSuccess = true
    package var problems: [FileProblem] = []
    package var applied: [String] = []
    package var waiting: [String] = []
    package var refused: [String] = []
    package var needsRestart: [String] = []

    package init() {}
}

/// A problem of a configuration text, at its place.
package struct FileProblem: Sendable, Hashable {
    package var line: Int
    package var column: Int
    package var path: String
    package var expected: String
    package var found: String
    package var fix: String

    package init(line: Int, column: Int, path: String, expected: String, found: String, fix: String) {
        self.line = line
        self.column = column
        self.path = path
        self.expected = expected
        self.found = found
        self.fix = fix
    }
}

/// An action of an operator, for the audit log.
package struct ActionRecord: Sendable, Hashable {
    package var at: Int64
    package var operatorName: String
    /// The action in words.
    package var text: String
    /// The reason why it failed; nil for success.
    package var failure: String?

    package init(at: Int64, operatorName: String, text: String, failure: String? = nil) {
        self.at = at
        self.operatorName = operatorName
        self.text = text
        self.failure = failure
    }
}

/// The viewer of a page.
package struct Viewer: Sendable, Hashable {
    package var name: String
    package var role: ConsoleRole
    /// The token that forms of this session carry.
    package var formToken: String

    package init(name: String, role: ConsoleRole, formToken: String) {
        self.name = name
        self.role = role
        self.formToken = formToken
    }
}

/// The permission of a viewer: `view` sees every page, `operate` may also act.
package enum ConsoleRole: String, Sendable, Hashable, CaseIterable {
    case view, operate
}
