/// FIFO queue with both operations in amortised constant time.
struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        // Compacts only when half is empty, so that each element moves once on average.
        if head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func removeAll(where matches: (Element) -> Bool) {
        elements.removeAll { $0.map(matches) ?? true }
        head = 0
    }

    mutating func drain() -> [Element] {
        defer { self = Queue() }
        return elements[head...].compactMap { $0 }
    }
}
