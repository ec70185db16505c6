import Synchronization

/// How it stands with a program, for operators.
public struct ProgramStatus: Sendable, Hashable {
    public enum State: String, Sendable {
        case running
        /// For its next start.
        case waiting
        /// It failed too often, and is started again only with the account.
        case quarantined
        /// It has ended as its configuration wants it.
        case finished
    }

    /// The bot's name.
    public var name: String
    public var state: State
    /// When the life that there is began, Unix milliseconds.
    public var since: Int64?
    /// Starts after the first.
    public var restarts: Int
    /// Events that are recorded for it and that it has not taken.
    public var waiting: Int64
}

/// What the service of a program notes of it.
final class ProgramBoard: Sendable {
    private struct Content {
        var state = ProgramStatus.State.waiting
        var since: Int64?
        var lives = 0
        var waiting: @Sendable () async -> Int64 = { 0 }
    }

    private let content = Mutex(Content())

    /// A way to count what waits.
    func counts(_ waiting: @escaping @Sendable () async -> Int64) { content.withLock { $0.waiting = waiting } }

    func began(at milliseconds: Int64) {
        content.withLock { content in
            content.state = .running
            content.since = milliseconds
            content.lives += 1
        }
    }

    func ended() {
        content.withLock { content in
            content.state = .waiting
            content.since = nil
        }
    }

    func isOver(as state: ProgramStatus.State) { content.withLock { $0.state = state } }

    func status(of name: String) async -> ProgramStatus {
        let content = content.withLock { $0 }
        return ProgramStatus(
            name: name, state: content.state, since: content.since, restarts: max(0, content.lives - 1),
            waiting: await content.waiting())
    }
}

extension ExternalBot {
    /// As of now.
    public var status: ProgramStatus { get async { await board.status(of: label) } }
}
