extension Sequence where Element: Sendable {
    /// Transforms all elements concurrently; returns the results in the order of the elements.
    func concurrentMap<Value: Sendable>(_ transform: @escaping @Sendable (Element) async -> Value) async -> [Value] {
        await withTaskGroup(of: (Int, Value).self) { group in
            for (index, element) in enumerated() { group.addTask { (index, await transform(element)) } }
            var values: [(Int, Value)] = []
            for await value in group { values.append(value) }
            return values.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
