/// Nodes of a ratchet tree, in chunks: changing one node of a copy copies one chunk, not all nodes.
struct TreeNodes: RandomAccessCollection, Sendable {
    private static let chunkSize = 32

    private(set) var chunks: [[RatchetTree.Node]] = []
    private(set) var count = 0

    init(_ nodes: [RatchetTree.Node]) { self.append(nodes) }

    var startIndex: Int { 0 }
    var endIndex: Int { self.count }

    subscript(_ position: Int) -> RatchetTree.Node {
        get { self.chunks[position / Self.chunkSize][position % Self.chunkSize] }
        set { self.chunks[position / Self.chunkSize][position % Self.chunkSize] = newValue }
    }

    /// Adds blank nodes.
    mutating func appendBlank(_ count: Int) { self.append([RatchetTree.Node](repeating: .blank, count: count)) }

    private mutating func append(_ nodes: [RatchetTree.Node]) {
        var rest = nodes[...]
        while !rest.isEmpty {
            if self.count == self.chunks.count * Self.chunkSize { self.chunks.append([]) }
            let part = rest.prefix(self.chunks.count * Self.chunkSize - self.count)
            self.chunks[self.chunks.count - 1].append(contentsOf: part)
            self.count += part.count
            rest = rest.dropFirst(part.count)
        }
    }

    /// Removes all nodes after the first `count`; there must be at least as many.
    mutating func truncate(to count: Int) {
        let chunkCount = (count + Self.chunkSize - 1) / Self.chunkSize
        self.chunks.removeLast(self.chunks.count - chunkCount)
        if let last = self.chunks.indices.last {
            let kept = count - last * Self.chunkSize
            self.chunks[last].removeLast(self.chunks[last].count - kept)
        }
        self.count = count
    }
}
