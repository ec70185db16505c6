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
    /// Exit statuses after which another start would not help, and why in words: the worker is quarantined at once.
    public var finalStatuses: [Int32: String]
    /// Exit statuses after which another start helps as soon as something around the worker is mended, such as a full
    /// disk: it is started again with growing waits, and never quarantined for it.
    public var waitingStatuses: Set<Int32>
    /// The first line of its standard input.
    public var greeting: String?

    public init(
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

    /// Why another start would not help after this end; nil if it might.
    func finality(of exit: WorkerExit) -> String? {
        if case .exited(let status) = exit { finalStatuses[status] } else { nil }
    }

    func waits(after exit: WorkerExit) -> Bool {
        if case .exited(let status) = exit { waitingStatuses.contains(status) } else { false }
    }
}
