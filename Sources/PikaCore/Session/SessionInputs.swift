/// An input of a session.
enum SessionInput: Sendable {
    case action(AppAction, RequestID?)
    /// The attempt with this number to open an account is over.
    case opened(Int)
    /// The run with this number has failed.
    case ended(run: Int, AppCoreError)
}

/// The inputs of a session in order; they can be held back during a login.
final class SessionInputs {
    private var iterator: AsyncStream<SessionInput>.Iterator
    private var held: [SessionInput] = []

    init(_ stream: AsyncStream<SessionInput>) {
        self.iterator = stream.makeAsyncIterator()
    }

    /// Returns the next input; nil once the session is cancelled.
    func next() async -> SessionInput? {
        if Task.isCancelled { return nil }
        return self.held.isEmpty ? await self.iterator.next(isolation: #isolation) : self.held.removeFirst()
    }

    /// Holds all actions back until the attempt is over, then returns true. Returns false as soon as an action that
    /// ends the session arrives, or the session is cancelled.
    func hold(untilOpened number: Int) async -> Bool {
        while let input = await self.iterator.next(isolation: #isolation) {
            switch input {
            case .opened(number): return true
            case .opened, .ended: continue
            case .action(let action, _):
                self.held.append(input)
                if action == .logout || action == .wipeLocalData { return false }
            }
        }
        return false
    }

    /// Returns the request ids of the actions left over; the stream must be finished before.
    func drain() async -> [RequestID] {
        while let input = await self.iterator.next(isolation: #isolation) { self.held.append(input) }
        return self.held.compactMap { if case .action(_, let request?) = $0 { request } else { nil } }
    }
}
