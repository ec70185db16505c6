/// A dictionary with least-recently-used eviction: it holds at least the `capacity` keys used last, and at most twice
/// as many.
package struct RecentEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    package init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    package var count: Int { self.young.count + self.old.count }

    /// Reading counts as use.
    package subscript(key: Key) -> Value? {
        mutating get {
            if let value = self.young[key] { return value }
            guard let value = self.old.removeValue(forKey: key) else { return nil }
            self.put(value, key)
            return value
        }
        set {
            self.old[key] = nil
            guard let newValue else {
                self.young[key] = nil
                return
            }
            self.put(newValue, key)
        }
    }

    private mutating func put(_ value: Value, _ key: Key) {
        if self.young[key] == nil, self.young.count >= self.capacity {
            self.old = self.young
            self.young = [:]
        }
        self.young[key] = value
    }
}
