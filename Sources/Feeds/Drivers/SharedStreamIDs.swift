import FeedRules
import Synchronization

/// The ids of a stream's items, for a reader that is called from a closure.
final class SharedStreamIDs: Sendable {
    private let ids: Mutex<StreamIDs>

    init(_ ids: StreamIDs) {
        self.ids = Mutex(ids)
    }

    func next(_ payload: [UInt8]) -> String { ids.withLock { $0.next(payload) } }
}
