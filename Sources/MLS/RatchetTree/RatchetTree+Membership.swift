/// Adding, updating and removing leaves (RFC 9420 §7.7, §12.1.1 to §12.1.3).
extension RatchetTree {
    /// Adds a leaf at the leftmost blank position, doubling a full tree, and marks it unmerged above.
    @discardableResult
    mutating func add(_ leaf: LeafNode, searchingFrom start: Int = 0) -> LeafIndex {
        let blank = (start..<self.shape.leafCount).first { self.nodes[$0 * 2].isBlank }
        let index = LeafIndex(blank ?? self.shape.leafCount)
        if blank == nil { self.extend() }
        self.set(.leaf(leaf), at: index.node)
        for ancestor in self.shape.directPath(of: index.node) {
            guard let parent = self.parent(ancestor) else { continue }
            var unmerged = parent.unmergedLeaves
            let position = unmerged.firstIndex { $0 > index.rawValue } ?? unmerged.endIndex
            unmerged.insert(index.rawValue, at: position)
            let updated = ParentNode(
                encryptionKey: parent.encryptionKey, parentHash: parent.parentHash, unmergedLeaves: unmerged)
            self.set(.parent(updated), at: ancestor)
        }
        return index
    }

    /// Replaces a leaf and blanks all nodes above it.
    mutating func update(_ leaf: LeafNode, at index: LeafIndex) {
        self.set(.leaf(leaf), at: index.node)
        self.blankPath(of: index)
    }

    /// Blanks a leaf and all nodes above it; call ``truncate()`` after the last removal.
    mutating func remove(_ index: LeafIndex) {
        self.set(.blank, at: index.node)
        self.blankPath(of: index)
    }

    private mutating func blankPath(of index: LeafIndex) {
        for ancestor in self.shape.directPath(of: index.node) where !self[ancestor].isBlank {
            self.set(.blank, at: ancestor)
        }
    }
}
