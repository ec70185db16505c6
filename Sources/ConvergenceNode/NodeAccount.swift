package import Nostr
package import PikaCore
import Synchronization

/// The account that a node drives.
package protocol NodeAccount: Sendable {
    /// The account.
    var account: PublicKey { get }
    /// The newest snapshot.
    var state: AppState { get async }
    /// The configuration that it runs with.
    var configuration: CoreConfiguration { get }
    /// Events of its chats, from the first on.
    var events: AsyncStream<CoreEvent> { get }

    /// Performs an action; throws the ``AppCoreError`` of a failed one.
    func perform(_ action: AppAction) async throws -> ActionOutcome
    /// Returns all messages of a chat's history, own and received.
    func messages(in chatID: ChatID) async throws -> [NodeMessage]
    /// Waits, without a deadline, until a condition on the account's state holds, and returns that state. Throws the
    /// condition's errors, and `CancellationError` if the account ends first.
    func awaitState(_ condition: @Sendable (AppState) throws -> Bool) async throws -> AppState
    /// Runs a body, which must respond to cancellation, and returns its result; returns nil if it exceeds the limit.
    func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value?
}

/// A message of a chat's history.
package struct NodeMessage: Hashable, Sendable {
    package let id: EventID
    package let kind: Kind
    package let content: String

    package init(id: EventID, kind: Kind, content: String) {
        self.id = id
        self.kind = kind
        self.content = content
    }
}

/// Summary of the events of the account since the node was initialized.
final class NodeRecorder: Sendable {
    struct Record: Sendable {
        /// All events.
        var events = 0
        /// Own commits of each chat, in order.
        var commits: [ChatID: [EventID]] = [:]
        /// Messages that left the history of each chat.
        var withdrawn: [ChatID: Set<EventID>] = [:]
    }

    private struct State {
        var record = Record()
        var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    var current: Record { self.state.withLock { $0.record } }

    func note(_ event: CoreEvent) {
        let waiters = self.state.withLock { state in
            state.record.note(event)
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.yield() }
    }

    /// Waits until a chat has more own commits than `count`; returns those after the first `count`. Throws
    /// `CancellationError`.
    func commits(of chatID: ChatID, beyond count: Int) async throws -> [EventID] {
        let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Registered before the first check, so that no event is missed between the two.
        let number = self.state.withLock { state in
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = changed
            return state.lastWaiter
        }
        defer { self.state.withLock { _ = $0.waiters.removeValue(forKey: number) } }
        changed.yield()
        for await _ in changes {
            let commits = (self.current.commits[chatID] ?? []).dropFirst(count)
            if !commits.isEmpty { return Array(commits) }
        }
        throw CancellationError()
    }
}

extension NodeRecorder.Record {
    fileprivate mutating func note(_ event: CoreEvent) {
        self.events += 1
        switch event.content {
        case .commit(let commit) where commit.isOwn: self.commits[event.chatID, default: []].append(commit.id)
        case .withdrawn(let withdrawn) where withdrawn.isRestored:
            self.withdrawn[event.chatID]?.remove(withdrawn.id)
        case .withdrawn(let withdrawn): self.withdrawn[event.chatID, default: []].insert(withdrawn.id)
        default: break
        }
    }
}
