import Testing

@testable import MLS

/// Returns the place of an array's elements in memory.
func address<Element>(of array: [Element]) -> UnsafePointer<Element>? {
    array.withUnsafeBufferPointer(\.baseAddress)
}

@Suite struct TreeNodesTests {
    private func parent(_ number: Int) -> RatchetTree.Node {
        .parent(
            ParentNode(encryptionKey: [UInt8(number & 0xff), UInt8(number >> 8)], parentHash: [], unmergedLeaves: []))
    }

    private func keys(_ nodes: some Sequence<RatchetTree.Node>) -> [[UInt8]?] { nodes.map(\.encryptionKey) }

    @Test(arguments: [1, 3, 31, 63, 127, 255])
    func growsAndShrinksAsAnArray(count: Int) {
        var array = (0..<count).map(self.parent)
        var nodes = TreeNodes(array)
        #expect(self.keys(nodes) == self.keys(array) && nodes.count == count)
        nodes.appendBlank(count + 1)
        array += [RatchetTree.Node](repeating: .blank, count: count + 1)
        nodes[count] = self.parent(7)
        array[count] = self.parent(7)
        #expect(self.keys(nodes) == self.keys(array) && nodes.count == array.count)
        let last = nodes.lastIndex { !$0.isBlank }
        #expect(last == count)
        for kept in [count + 1, count, count / 2] {
            nodes.truncate(to: kept)
            array.removeLast(array.count - kept)
            #expect(self.keys(nodes) == self.keys(array) && nodes.count == kept)
        }
        // The first chunk is filled up again.
        nodes.appendBlank(2)
        #expect(self.keys(nodes) == self.keys(array) + [nil, nil])
    }

    @Test func changeCopiesOneChunk() {
        let old = TreeNodes((0..<127).map(self.parent))
        var new = old
        new[40] = .blank
        let isShared = zip(old.chunks, new.chunks).map { address(of: $0) == address(of: $1) }
        #expect(isShared == [true, false, true, true])
        #expect(old[40].encryptionKey == [40, 0] && new[40].isBlank)
    }
}
