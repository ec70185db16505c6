/// The outcome of a program's process.
enum ProgramExit: Sendable, Hashable, CustomStringConvertible {
    case exited(Int32)
    case signaled(Int32)
    case failedToStart(String)

    var isSuccess: Bool { self == .exited(0) }

    /// The metric label.
    var reason: String {
        switch self {
        case .exited: "exit"
        case .signaled: "signal"
        case .failedToStart: "start"
        }
    }

    var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .signaled(let signal): "signal \(signal)"
        case .failedToStart(let reason): "not started: \(reason)"
        }
    }
}
