import Synchronization

/// The calls of a program: those that it was notified of, and those that it has made.
final class ProgramCalls: Sendable {
    private static let capacity = 64

    private let ids = Mutex<[String]>([])

    func add(_ callID: String) {
        ids.withLock { ids in
            guard !ids.contains(callID) else { return }
            ids.append(callID)
            if ids.count > Self.capacity { ids.removeFirst() }
        }
    }

    func contains(_ callID: String) -> Bool { ids.withLock { $0.contains(callID) } }
}
