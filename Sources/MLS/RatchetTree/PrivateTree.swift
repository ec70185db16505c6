/// Private keys of one member: its leaf's and the known ones on the path above it (RFC 9420 §4.2).
struct PrivateTree: Sendable {
    let leafIndex: LeafIndex
    var leafKey: HPKEPrivateKey
    /// Private keys of parent nodes by node index.
    var pathKeys: [Int: HPKEPrivateKey] = [:]

    /// Returns the private key of a node if this member holds it.
    func key(for index: NodeIndex) -> HPKEPrivateKey? {
        index == self.leafIndex.node ? self.leafKey : self.pathKeys[index.value]
    }

    /// Drops keys of nodes that have become blank or have another public key now.
    mutating func dropStaleKeys(_ tree: RatchetTree) {
        self.pathKeys = self.pathKeys.filter { position, key in
            position < tree.nodes.count && tree.nodes[position].encryptionKey == key.publicKey
        }
    }
}
