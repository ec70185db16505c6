import PikaCore
import Synchronization

/// A cache of the handlers' recent writes.
///
/// Completing an event only enqueues, so the next handler may read a value before it is in the store. The cache holds
/// far more writes than can be pending.
final class WrittenValues: Sendable {
    private struct Name: Hashable {
        let scope: String
        let key: String
    }

    private struct Recent {
        var values: [Name: (value: [UInt8]?, number: Int)] = [:]
        var names: [(name: Name, number: Int)] = []
        var lastNumber = 0
    }

    private let capacity: Int
    private let recent = Mutex(Recent())

    init(capacity: Int = 4_096) {
        self.capacity = capacity
    }

    /// Returns the last value written, or its deletion; nil if the cache has no entry.
    func value(scope: String, key: String) -> [UInt8]?? {
        recent.withLock { recent in recent.values[Name(scope: scope, key: key)].map(\.value) }
    }

    func note(_ effects: [HandlerEffect]) {
        recent.withLock { recent in
            for case .putValue(let scope, let key, let value) in effects.map(\.operation) {
                let name = Name(scope: scope, key: key)
                recent.lastNumber += 1
                recent.values[name] = (value, recent.lastNumber)
                recent.names.append((name, recent.lastNumber))
            }
            guard recent.names.count > 2 * capacity else { return }
            for old in recent.names.dropLast(capacity) where recent.values[old.name]?.number == old.number {
                recent.values[old.name] = nil
            }
            recent.names.removeFirst(recent.names.count - capacity)
        }
    }
}
