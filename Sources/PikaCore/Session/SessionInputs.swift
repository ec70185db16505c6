/// What can happen to a session, one after the other.
enum SessionInput: Sendable {
    case action(AppAction, RequestID?)
    /// The attempt to open an account with this number is over.
    case opened(Int)
    /// The run with this number has ended by itself.
    case ended(run: Int, AppCoreError)
}

/// The inputs of a session in their order; some can be put back while a login is under way.
final class SessionInputs {
    private var iterator: AsyncStream<SessionInput>.Iterator
    private var held: [SessionInput] = []

    init(_ stream: AsyncStream<SessionInput>) {
        self.iterator = stream.makeAsyncIterator()
    }

    /// Nil once the session is cancelled.
    func next() async -> SessionInput? {
        if Task.isCancelled { return nil }
        return self.held.isEmpty ? await self.iterator.next(isolation: #isolation) : self.held.removeFirst()
    }

    /// Holds everything back until the attempt is over, and returns true; false as soon as an action that ends
    /// sessions is among it, or the session is cancelled.
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

    /// Ids of the actions that nobody takes any more; the stream was finished before.
    func drain() async -> [RequestID] {
        while let input = await self.iterator.next(isolation: #isolation) { self.held.append(input) }
        return self.held.compactMap { if case .action(_, let request?) = $0 { request } else { nil } }
    }
}
