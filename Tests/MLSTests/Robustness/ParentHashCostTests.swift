import Foundation
import LiveTesting
import Testing

@testable import MLS

/// The cost of verifying a tree whose sender lists as many unmerged leaves as RFC 9420 §12.4.3.1 permits.
struct ParentHashCostTests {
    /// Every odd leaf is unmerged in all its ancestors; every parent node is parent-hash valid.
    struct CraftedTree {
        private(set) var tree: RatchetTree
        private(set) var unmergedCount = 0
        /// The tree before the odd leaves were added.
        private var original: RatchetTree
        private let leaf: LeafNode
        private let keys: KeyPackageBundle
        private var rng: SplitMix64

        init(leafCount: Int) throws {
            var party = try Party(1)
            self.keys = try party.bundle("member")
            self.leaf = self.keys.keyPackage.leafNode
            self.rng = party.rng
            let blank = RatchetTree(
                cipherSuite: party.suite, nodes: Array(repeating: .blank, count: 2 * leafCount - 1))
            self.tree = blank
            self.original = blank
            try self.fill(blank.shape.root, parentHash: [])
        }

        private mutating func fill(_ index: NodeIndex, parentHash: [UInt8]) throws {
            guard let left = index.left, let right = index.right else {
                let isUnmerged = index.value / 2 % 2 == 1
                let leaf = isUnmerged ? self.leaf : try self.committed(LeafIndex(index.value / 2), parentHash)
                self.tree.set(.leaf(leaf), at: index)
                if !isUnmerged { self.original.set(.leaf(leaf), at: index) }
                return
            }
            let unmerged = index.leafRange.filter { $0 % 2 == 1 }.map(UInt32.init)
            self.unmergedCount += unmerged.count
            let key = self.rng.bytes(32)
            let parent = ParentNode(encryptionKey: key, parentHash: parentHash, unmergedLeaves: unmerged)
            self.tree.set(.parent(parent), at: index)
            self.original.set(
                .parent(ParentNode(encryptionKey: key, parentHash: parentHash, unmergedLeaves: [])), at: index)
            // The right subtree first: the left child carries a hash of it.
            try self.fill(right, parentHash: [])
            try self.fill(
                left, parentHash: self.tree.parentHash(of: parent, siblingHash: self.original.hash(of: right)))
        }

        private mutating func committed(_ index: LeafIndex, _ parentHash: [UInt8]) throws -> LeafNode {
            try LeafNode(
                encryptionKey: self.rng.bytes(32), credential: self.leaf.credential,
                capabilities: self.leaf.capabilities, source: .commit(parentHash: parentHash), extensions: [],
                position: .init(groupID: [1], leafIndex: index), signedBy: self.keys.signatureKey)
        }
    }

    @Test(arguments: [16, 256, 2048])
    func s7_9_2_verifyingIsNearlyLinear(_ leafCount: Int) throws {
        let crafted = try CraftedTree(leafCount: leafCount)
        var tree = crafted.tree
        _ = tree.rootHash()
        let start = ContinuousClock.now  // not live: nothing depends on the time, it is only printed
        try tree.validateUnmergedLeaves()
        var check = ParentHashCheck(tree: tree)
        try check.run()
        let time = start.duration(to: .now)
        let size = tree.nodes.count + crafted.unmergedCount
        let depth = leafCount.trailingZeroBitCount + 1
        #expect(check.work <= size * depth, "\(check.work) steps for \(size) nodes and unmerged leaves")
        if ProcessInfo.processInfo.environment["SHOW_COST"] != nil {
            print("\(leafCount) leaves, \(crafted.unmergedCount) unmerged entries: \(check.work) steps, \(time)")
        }
    }

    @Test func s7_9_2_refusesCraftedTreeWithOneWrongHash() throws {
        var tree = try CraftedTree(leafCount: 64).tree
        let index = NodeIndex(15)
        let parent = try #require(tree.parent(index))
        var hash = parent.parentHash
        hash[0] ^= 1
        tree.set(
            .parent(
                ParentNode(
                    encryptionKey: parent.encryptionKey, parentHash: hash, unmergedLeaves: parent.unmergedLeaves)),
            at: index)
        expectError(.invalidTree) { try tree.verifyParentHashes() }
    }
}
