/// Small set of public keys to search for among many: the last byte rules out nearly every other key.
struct KeyFilter {
    private var keys: Set<[UInt8]> = []
    private var lastBytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private var met: Set<[UInt8]> = []

    init(_ keys: [[UInt8]] = []) {
        for key in keys { _ = self.insert(key) }
    }

    /// Inserts a key and returns whether it is new.
    mutating func insert(_ key: [UInt8]) -> Bool {
        let last = key.last ?? 0
        let bit = UInt64(1) << UInt64(last & 63)
        switch last >> 6 {
        case 0: self.lastBytes.0 |= bit
        case 1: self.lastBytes.1 |= bit
        case 2: self.lastBytes.2 |= bit
        default: self.lastBytes.3 |= bit
        }
        return self.keys.insert(key).inserted
    }

    /// Returns whether a key that ends in `last` may be in the set.
    func mayContain(lastByte last: UInt8) -> Bool {
        let word =
            switch last >> 6 {
            case 0: self.lastBytes.0
            case 1: self.lastBytes.1
            case 2: self.lastBytes.2
            default: self.lastBytes.3
            }
        return word >> UInt64(last & 63) & 1 == 1
    }

    func contains(_ key: [UInt8]) -> Bool { self.keys.contains(key) }

    /// Returns whether `key` is in the set and was already passed to this function.
    mutating func meetsAgain(_ key: [UInt8]) -> Bool {
        self.contains(key) && !self.met.insert(key).inserted
    }
}

/// The last bytes of all keys of a tree, so that searching for a key need not visit every node.
struct KeyBytes: Sendable {
    /// Last byte of each node's encryption key; 0 for a blank node.
    private(set) var encryption: [UInt8]
    /// Last byte of each leaf's signature key; 0 for other nodes.
    private(set) var signature: [UInt8]

    init(_ nodes: [RatchetTree.Node]) {
        self.encryption = nodes.map { $0.encryptionKey?.last ?? 0 }
        self.signature = nodes.map { $0.signatureKey?.last ?? 0 }
    }

    mutating func set(_ node: RatchetTree.Node, at position: Int) {
        self.encryption[position] = node.encryptionKey?.last ?? 0
        self.signature[position] = node.signatureKey?.last ?? 0
    }

    /// Resizes the arrays with the tree; new nodes are blank.
    mutating func resize(nodeCount: Int) {
        let missing = nodeCount - self.encryption.count
        if missing < 0 {
            self.encryption.removeLast(-missing)
            self.signature.removeLast(-missing)
        } else {
            self.encryption.append(contentsOf: repeatElement(0, count: missing))
            self.signature.append(contentsOf: repeatElement(0, count: missing))
        }
    }
}
