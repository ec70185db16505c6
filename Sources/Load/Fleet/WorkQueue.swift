import Synchronization

/// Work queue for several consumers.
final class WorkQueue<Element: Sendable>: Sendable {
    private let rest: Mutex<ArraySlice<Element>>

    init(_ elements: [Element]) { rest = Mutex(elements[...]) }

    func next() -> Element? { rest.withLock { $0.popFirst() } }
}
