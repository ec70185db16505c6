import MLS
import Nostr
import PikaCore
import Synchronization

/// An agent's store in memory, for plans without disk.
final class AgentMemory: CoreStore {
    private let content = Mutex(StoreContent())

    func load() async throws -> StoredState { content.withLock { $0.state } }

    var commitsAtOnce: Bool { true }

    func commit(_ changes: [StoreChange]) async throws {
        content.withLock { content in
            for change in changes { content.apply(change) }
        }
    }

    func messages(in groupID: GroupID, before: StoredMessage.Position?, limit: Int) async throws -> [StoredMessage] {
        content.withLock { $0.messages(in: groupID, before: before, limit: limit) }
    }

    func messages(in groupID: GroupID, atPoints points: [Bytes32]) async throws -> [StoredMessage] {
        content.withLock { $0.messages(in: groupID, atPoints: points) }
    }

    func message(in groupID: GroupID, id: EventID) async throws -> StoredMessage? {
        content.withLock { $0.message(in: groupID, id: id) }
    }

    func nextExpiry() async throws -> UnixTime? { content.withLock { $0.nextExpiry } }

    func surplus(_ rule: MessageSurplus, limit: Int) async throws -> Int {
        content.withLock { $0.surplus(rule, limit: limit).count }
    }

    func value(scope: String, key: String) async throws -> [UInt8]? {
        content.withLock { $0.value(scope: scope, key: key) }
    }

    func media(in groupID: GroupID, message: EventID) async throws -> [StoredMedia] {
        content.withLock { $0.media(in: groupID, message: message) }
    }
}
