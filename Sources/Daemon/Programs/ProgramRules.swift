/// What makes a daemon the home of one program that is a bot, instead of an account's only owner.
///
/// Events wait in the record, not in the core's inbox: an event of the core counts as handled when it is recorded, and
/// leaves the record when the program has taken it. So a program that is slow, or away, holds nobody else up.
public struct ProgramRules: Sendable {
    /// The bot's name, for logs and metrics.
    public var name: String
    /// Refuses what the program may not do: the command, and its name on the wire.
    public var gate: @Sendable (DaemonCommand, _ name: String) async throws(DaemonFailure) -> Void
    /// Events that the program may have before it has taken the first of them.
    public var openEvents = 32
    /// How often an event may end with its program's end or patience before it is given up.
    public var tries = 3
    /// Milliseconds that a program has for its first word; then it is one that works, and does not know the extension.
    public var helloPatience: Int64 = 15_000
    /// The same for one that has said before that it acknowledges events.
    public var helloAgainPatience: Int64 = 60_000

    public init(
        name: String, gate: @escaping @Sendable (DaemonCommand, _ name: String) async throws(DaemonFailure) -> Void
    ) {
        self.name = name
        self.gate = gate
    }
}

/// What became of a program.
public struct ProgramReport: Sendable {
    /// Whether it has said `shutdown`.
    public var isShutDown = false
    /// The event that it had and has not taken, and how often that was to blame for an end.
    public var blamed: (cursor: Int64, count: Int)?
}

/// How a program has failed that was not told to end.
public enum ProgramFailure: Sendable, Hashable {
    case ended
    /// It was killed for it.
    case stalled(ProgramStall)
}

/// What a program has not done for too long.
public enum ProgramStall: String, Sendable, Hashable {
    /// Events wait for it.
    case takesNothing = "it took nothing of what waited for it"
    /// Replies wait, and there is no room for more.
    case readsNothing = "it did not read the replies to its commands"
}
