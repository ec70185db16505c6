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

    private let record = Mutex(Record())

    var current: Record { self.record.withLock { $0 } }

    func note(_ event: CoreEvent) {
        self.record.withLock { record in
            record.events += 1
            switch event.content {
            case .commit(let commit) where commit.isOwn: record.commits[event.chatID, default: []].append(commit.id)
            case .withdrawn(let withdrawn) where withdrawn.isRestored:
                record.withdrawn[event.chatID]?.remove(withdrawn.id)
            case .withdrawn(let withdrawn): record.withdrawn[event.chatID, default: []].insert(withdrawn.id)
            default: break
            }
        }
    }
}
