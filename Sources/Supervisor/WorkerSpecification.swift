public import Restarts

/// What one worker is: the program to run and when to run it again.
public struct WorkerSpecification: Hashable, Sendable {
    public typealias Restart = RestartKind

    /// Unique among the workers of one supervisor; appears in events, logs and metric labels.
    public var name: String
    /// Path of the program; not looked up in `PATH`.
    public var executable: String
    public var arguments: [String]
    /// Added to the supervisor's own environment; nil removes a variable.
    public var environment: [String: String?]
    public var restart: Restart
    /// Exit statuses after which another start would not help: the worker is quarantined at once.
    public var finalStatuses: Set<Int32>

    public init(
        name: String, executable: String, arguments: [String] = [], environment: [String: String?] = [:],
        restart: Restart = .permanent, finalStatuses: Set<Int32> = []
    ) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.restart = restart
        self.finalStatuses = finalStatuses
    }

    func isFinal(_ exit: WorkerExit) -> Bool {
        if case .exited(let status) = exit { self.finalStatuses.contains(status) } else { false }
    }
}
