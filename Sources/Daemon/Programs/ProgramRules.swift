/// Rules of a daemon that serves one bot, run as an external program, instead of owning an account.
///
/// Events wait in the event log and not in the core's inbox: an event of the core is handled once it is recorded, and
/// leaves the log's backlog once the program has consumed it. So a slow or absent program does not hold up anyone else.
package struct ProgramRules: Sendable {
    /// The bot's name, for logs and metrics.
    package var name: String
    /// Throws if the program may not use the command, given with its name on the wire.
    package var gate: @Sendable (DaemonCommand, _ name: String) async throws(DaemonFailure) -> Void
    /// Maximum number of events in flight to the program.
    package var openEvents = 32
    /// Failures or timeouts of the program on one event before the event becomes a dead letter.
    package var tries = 3
    /// Timeout in milliseconds for a program's first command. After it, the program counts as working, without the
    /// extension.
    package var helloPatience: Int64 = 15_000
    /// The same timeout for a program that has acknowledged events before.
    package var helloAgainPatience: Int64 = 60_000

    package init(
        name: String, gate: @escaping @Sendable (DaemonCommand, _ name: String) async throws(DaemonFailure) -> Void
    ) {
        self.name = name
        self.gate = gate
    }

    /// Throws if the program may not use the command. A program may always end itself.
    func authorize(_ request: DaemonRequest) async throws(DaemonFailure) {
        switch request.command {
        case .hello, .acknowledge, .shutdown: return
        default: try await self.gate(request.command, request.name)
        }
    }
}

/// Outcome of a program's run.
package struct ProgramReport: Sendable {
    /// Whether the program has sent `shutdown`.
    package var isShutDown = false
    /// The oldest event that it was sent and has not consumed, and the number of failures blamed on it.
    package var blamed: (cursor: Int64, count: Int)?
}

/// Failure of a program that was not told to end.
package enum ProgramFailure: Sendable, Hashable {
    case ended
    /// It stalled and was killed.
    case stalled(ProgramStall)
}

/// The way in which a program stalled.
package enum ProgramStall: String, Sendable, Hashable {
    /// It did not consume waiting events.
    case consumesNothing = "it did not consume waiting events"
    /// It did not read its replies, and the queue is full.
    case readsNothing = "it did not read its replies"
}
