import TLSCodec
import Testing

@testable import MLS

@Suite(.needsVectors) struct TreeMathVectors {
    private struct Vector: Decodable {
        let nLeaves: Int
        let nNodes: Int
        let root: Int
        let left: [Int?]
        let right: [Int?]
        let parent: [Int?]
        let sibling: [Int?]
    }

    @Test func officialTreeMath() throws {
        let vectors = try VectorFile.load("tree-math", as: Vector.self)
        for vector in vectors {
            let shape = TreeShape(leafCount: vector.nLeaves)
            #expect(shape.nodeCount == vector.nNodes)
            #expect(shape.root.value == vector.root)
            for position in 0..<vector.nNodes {
                let node = NodeIndex(position)
                #expect(node.left?.value == vector.left[position])
                #expect(node.right?.value == vector.right[position])
                #expect((node == shape.root ? nil : node.parent.value) == vector.parent[position])
                #expect((node == shape.root ? nil : node.sibling.value) == vector.sibling[position])
            }
        }
        #expect(vectors.count == 10)
    }
}

@Suite(.needsVectors) struct DeserializationVectors {
    private struct Vector: Decodable {
        let vlbytesHeader: HexBytes
        let length: Int
    }

    @Test func officialLengthHeaders() throws {
        let vectors = try VectorFile.load("deserialization", as: Vector.self)
        for vector in vectors {
            var reader = TLSReader(vector.vlbytesHeader.bytes)
            #expect(try reader.readLength() == vector.length)
            #expect(reader.isAtEnd)
        }
        #expect(vectors.count == 14)
    }
}
