/// Small set of public keys to search for among many: the last two bytes rule out nearly every other key.
struct KeyFilter {
    private var keys: Set<[UInt8]> = []
    /// One bit for each ending.
    private var endings = [UInt64](repeating: 0, count: 1 << 10)
    private var met: Set<[UInt8]> = []

    /// Creates an empty set that holds `capacity` keys without growing.
    init(capacity: Int) { self.keys.reserveCapacity(capacity) }

    init(_ keys: [[UInt8]]) {
        self.init(capacity: keys.count)
        for key in keys { _ = self.insert(key) }
    }

    /// Inserts a key and returns whether it is new.
    mutating func insert(_ key: [UInt8]) -> Bool {
        let ending = KeyEndings.ending(of: key)
        self.endings[Int(ending >> 6)] |= 1 << UInt64(ending & 63)
        return self.keys.insert(key).inserted
    }

    /// Returns whether a key with this ending may be in the set.
    func mayContain(ending: UInt16) -> Bool { self.endings[Int(ending >> 6)] >> UInt64(ending & 63) & 1 == 1 }

    func contains(_ key: [UInt8]) -> Bool { self.keys.contains(key) }

    /// Returns whether `key` is in the set and was already passed to this function.
    mutating func meetsAgain(_ key: [UInt8]) -> Bool {
        self.contains(key) && !self.met.insert(key).inserted
    }
}

/// The last two bytes of all keys of a tree, so that searching for a key need not visit every node.
struct KeyEndings: Sendable {
    /// Ending of each node's encryption key; 0 for a blank node.
    private(set) var encryption: [UInt16]
    /// Ending of each leaf's signature key; 0 for other nodes.
    private(set) var signature: [UInt16]

    init(_ nodes: [RatchetTree.Node]) {
        self.encryption = nodes.map { Self.ending(of: $0.encryptionKey) }
        self.signature = nodes.map { Self.ending(of: $0.signatureKey) }
    }

    /// Returns the last two bytes of a key; 0 for none, and for a shorter one.
    static func ending(of key: [UInt8]?) -> UInt16 {
        guard let key, key.count >= 2 else { return 0 }
        return UInt16(key[key.count - 2]) << 8 | UInt16(key[key.count - 1])
    }

    mutating func set(_ node: RatchetTree.Node, at position: Int) {
        self.encryption[position] = Self.ending(of: node.encryptionKey)
        self.signature[position] = Self.ending(of: node.signatureKey)
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
