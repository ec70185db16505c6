/// An array whose copies share their unchanged elements: after a copy, changing one element costs one chunk of
/// references and the list of chunks, not the whole array. For large collections in snapshots.
///
/// Elements are kept in boxes, boxes in chunks of at most 64. Access by index is a binary search among the chunks.
public struct SharedArray<Element: Sendable>: Sendable {
    fileprivate final class Box: Sendable {
        let value: Element

        init(_ value: Element) { self.value = value }
    }

    private var chunks: [[Box]] = []
    /// The index of each chunk's first element.
    private var starts: [Int] = []
    /// The number of elements; O(1).
    public private(set) var count = 0

    private static var capacity: Int { 64 }

    /// Creates an empty array.
    public init() {}

    /// Returns the chunk that holds the element, and the offset in it; an index one past the end belongs to the last
    /// chunk.
    private func place(_ index: Int) -> (chunk: Int, offset: Int) {
        var low = 0
        var high = self.starts.count
        while low < high {
            let middle = (low + high) / 2
            if self.starts[middle] <= index { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return (0, 0) }
        return (low - 1, index - self.starts[low - 1])
    }

    private mutating func renumber(from chunk: Int) {
        self.starts.removeSubrange(chunk...)
        var start = chunk == 0 ? 0 : self.starts[chunk - 1] + self.chunks[chunk - 1].count
        for chunk in self.chunks[chunk...] {
            self.starts.append(start)
            start += chunk.count
        }
        self.count = start
    }
}

extension SharedArray: Sequence {
    /// An iterator over the elements in order.
    public struct Iterator: IteratorProtocol {
        fileprivate var boxes: FlattenSequence<[[Box]]>.Iterator

        /// Returns the next element; nil after the last one.
        public mutating func next() -> Element? { self.boxes.next()?.value }
    }

    /// Returns an iterator over the elements in order.
    public func makeIterator() -> Iterator { Iterator(boxes: self.chunks.joined().makeIterator()) }
}

extension SharedArray: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    /// The index of the first element: 0.
    public var startIndex: Int { 0 }
    /// The index after the last element: ``count``.
    public var endIndex: Int { self.count }

    /// Accesses an element in O(log n); traps if the index is out of range.
    public subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < self.count, "index \(index) is outside of \(self.count) elements")
            let (chunk, offset) = self.place(index)
            return self.chunks[chunk][offset].value
        }
        set {
            precondition(index >= 0 && index < self.count, "index \(index) is outside of \(self.count) elements")
            let (chunk, offset) = self.place(index)
            self.chunks[chunk][offset] = Box(newValue)
        }
    }

    /// Appends an element; copies at most the last chunk and the list of chunks.
    public mutating func append(_ element: Element) {
        if let last = self.chunks.indices.last, self.chunks[last].count < Self.capacity {
            self.chunks[last].append(Box(element))
        } else {
            self.starts.append(self.count)
            self.chunks.append([Box(element)])
        }
        self.count += 1
    }

    /// Costs the chunks that the range touches, plus the list of the chunks after it.
    public mutating func replaceSubrange(
        _ range: Range<Int>, with elements: some Collection<Element>
    ) {
        precondition(range.lowerBound >= 0 && range.upperBound <= self.count, "the range is outside the array")
        guard !self.chunks.isEmpty else {
            self.chunks = Self.chunked(elements.map(Box.init))
            return self.renumber(from: 0)
        }
        var (first, prefix) = self.place(range.lowerBound)
        var (last, suffix) = self.place(range.upperBound)
        var boxes = self.chunks[first][..<prefix] + elements.map(Box.init) + self.chunks[last][suffix...]
        // A small chunk is merged with its neighbour, so that many removals leave few chunks.
        if boxes.count < Self.capacity / 4 {
            if first > 0 {
                first -= 1
                boxes = self.chunks[first] + boxes
            } else if last + 1 < self.chunks.count {
                last += 1
                boxes += self.chunks[last]
            }
        }
        self.chunks.replaceSubrange(first...last, with: Self.chunked(Array(boxes)))
        self.renumber(from: first)
    }

    /// Splits into even chunks: full ones would have to be split at the next insertion.
    private static func chunked(_ boxes: [Box]) -> [[Box]] {
        guard boxes.count > Self.capacity else { return boxes.isEmpty ? [] : [boxes] }
        let parts = (boxes.count + Self.capacity - 1) / Self.capacity
        return (0..<parts).map { part in
            Array(boxes[boxes.count * part / parts..<boxes.count * (part + 1) / parts])
        }
    }

    /// Removes the matching elements. If there are none, changes nothing and keeps sharing all storage.
    public mutating func removeAll(where isMeant: (Element) throws -> Bool) rethrows {
        guard let first = try self.firstIndex(where: isMeant) else { return }
        let kept = try self[first...].filter { try !isMeant($0) }
        self.replaceSubrange(first..., with: kept)
    }
}

extension SharedArray: ExpressibleByArrayLiteral {
    /// Creates an array of these elements.
    public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension SharedArray: Equatable where Element: Equatable {
    /// Skips the comparison of elements that both arrays share.
    public static func == (left: SharedArray, right: SharedArray) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left.chunks.joined(), right.chunks.joined()).allSatisfy { $0 === $1 || $0.value == $1.value }
    }
}

extension SharedArray: Hashable where Element: Hashable {
    /// Hashes the count and all elements in order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.count)
        for box in self.chunks.joined() { hasher.combine(box.value) }
    }
}

extension SharedArray: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The elements, as an array describes them.
    public var description: String { Array(self).description }
    /// The elements, as an array describes them for debugging.
    public var debugDescription: String { Array(self).debugDescription }
    /// A mirror of a collection of the elements.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}
