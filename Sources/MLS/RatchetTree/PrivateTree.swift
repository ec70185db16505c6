/// The private keys of one member: its leaf's, and those of the path above that it knows (RFC 9420 §4.2).
struct PrivateTree: Sendable {
    let leafIndex: LeafIndex
    var leafKey: HPKEPrivateKey
    /// Keys of parent nodes by node number.
    var pathKeys: [Int: HPKEPrivateKey] = [:]

    /// The private key of a node, if this member holds it.
    func key(for index: NodeIndex) -> HPKEPrivateKey? {
        index == self.leafIndex.node ? self.leafKey : self.pathKeys[index.value]
    }

    /// Drops keys of nodes that are blank or hold another public key by now.
    mutating func dropStaleKeys(_ tree: RatchetTree) {
        self.pathKeys = self.pathKeys.filter { position, key in
            position < tree.nodes.count && tree.nodes[position].encryptionKey == key.publicKey
        }
    }
}
