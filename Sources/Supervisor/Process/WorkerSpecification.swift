package import ProcessSupport

/// One worker's program and restart rule.
package struct WorkerSpecification: Hashable, Sendable {
    package typealias Restart = RestartKind

    /// Unique among the workers of one supervisor; appears in events, logs and metric labels.
    package var name: String
    /// Path of the executable; not searched in `PATH`.
    package var executable: String
    package var arguments: [String]
    /// Added to the supervisor's own environment; nil removes a variable.
    package var environment: [String: String?]
    package var restart: Restart
    /// Exit statuses after which restarting is useless, with the reason: the worker is quarantined at once.
    package var finalStatuses: [Int32: String]
    /// Exit statuses whose cause lies outside the worker, such as a full disk: it is restarted with growing delays, and
    /// never quarantined for them.
    package var waitingStatuses: Set<Int32>
    /// First line sent to its standard input.
    package var greeting: String?

    package init(
        name: String, executable: String, arguments: [String] = [], environment: [String: String?] = [:],
        restart: Restart = .permanent, finalStatuses: [Int32: String] = [:], waitingStatuses: Set<Int32> = [],
        greeting: String? = nil
    ) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.restart = restart
        self.finalStatuses = finalStatuses
        self.waitingStatuses = waitingStatuses
        self.greeting = greeting
    }

    /// Returns the reason why a restart after this exit is useless; nil if it may succeed.
    func finalReason(of exit: WorkerExit) -> String? {
        if case .exited(let status) = exit { finalStatuses[status] } else { nil }
    }

    func waits(after exit: WorkerExit) -> Bool {
        if case .exited(let status) = exit { waitingStatuses.contains(status) } else { false }
    }
}
