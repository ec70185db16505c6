import TLSCodec

/// The two ratchets of a member (RFC 9420 §9).
enum RatchetType: Sendable {
    case handshake
    case application
}

/// Both ratchets of one leaf.
struct LeafRatchets: Sendable {
    var handshake: SenderRatchet
    var application: SenderRatchet

    init(_ suite: CipherSuite, leafSecret: Secret) {
        self.handshake = SenderRatchet(
            secret: suite.expandWithLabel(leafSecret, "handshake", length: suite.hashLength))
        self.application = SenderRatchet(
            secret: suite.expandWithLabel(leafSecret, "application", length: suite.hashLength))
    }

    subscript(_ type: RatchetType) -> SenderRatchet {
        get { type == .handshake ? self.handshake : self.application }
        set {
            switch type {
            case .handshake: self.handshake = newValue
            case .application: self.application = newValue
            }
        }
    }

    /// Returns the ratchets without the keys that either copy has consumed.
    func intersection(_ other: LeafRatchets) -> LeafRatchets {
        var result = self
        result.handshake = self.handshake.intersection(other.handshake)
        result.application = self.application.intersection(other.application)
        return result
    }

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.handshake = try SenderRatchet(from: &reader)
        self.application = try SenderRatchet(from: &reader)
    }

    func encode(to writer: inout TLSWriter) {
        self.handshake.encode(to: &writer)
        self.application.encode(to: &writer)
    }
}

/// Message keys of one epoch (RFC 9420 §9): a sparse tree of secrets that shrinks as senders appear.
///
/// It stores only secrets still needed, so the cost of copying depends on the number of senders seen, not on the number
/// of members.
struct SecretTree: Sendable {
    let cipherSuite: CipherSuite
    let shape: TreeShape
    /// Secrets of nodes below which no member has sent yet.
    private(set) var nodeSecrets: [Int: Secret]
    private(set) var ratchets: [UInt32: LeafRatchets]

    init(_ suite: CipherSuite, shape: TreeShape, encryptionSecret: Secret) {
        self.cipherSuite = suite
        self.shape = shape
        self.nodeSecrets = [shape.root.value: encryptionSecret]
        self.ratchets = [:]
    }

    init(
        _ suite: CipherSuite, shape: TreeShape, nodeSecrets: [Int: Secret], ratchets: [UInt32: LeafRatchets]
    ) {
        self.cipherSuite = suite
        self.shape = shape
        self.nodeSecrets = nodeSecrets
        self.ratchets = ratchets
    }

    /// Changes caused by consuming a key, to be applied only once the message has been authenticated.
    struct Change: Sendable {
        let leaf: LeafIndex
        fileprivate(set) var ratchets: LeafRatchets
        /// Node secrets to add, or (nil) to delete.
        fileprivate(set) var nodeSecrets: [Int: Secret?]
    }

    /// Returns the next key of this member's own ratchet.
    func nextKey(
        of leaf: LeafIndex, _ type: RatchetType
    ) throws(MLSError) -> (generation: UInt32, key: MessageKey, change: Change) {
        var change = try self.prepare(leaf)
        let (generation, key) = try change.ratchets[type].next(self.cipherSuite)
        return (generation, key, change)
    }

    /// Returns the key of another member's message.
    func key(
        of leaf: LeafIndex, _ type: RatchetType, generation: UInt32, limits: RatchetLimits
    ) throws(MLSError) -> (key: MessageKey, change: Change) {
        var change = try self.prepare(leaf)
        let key = try change.ratchets[type].take(generation, self.cipherSuite, limits: limits)
        return (key, change)
    }

    mutating func apply(_ change: Change) {
        self.ratchets[change.leaf.rawValue] = change.ratchets
        for (node, secret) in change.nodeSecrets { self.nodeSecrets[node] = secret }
    }

    /// Returns the tree without the keys that this one or `other`, another copy of the same epoch's tree, has consumed.
    func intersection(_ other: SecretTree) -> SecretTree {
        var result = self
        result.nodeSecrets = self.secretsBelow(other).merging(other.secretsBelow(self)) { own, _ in own }
        result.ratchets = self.ratchets.merging(other.ratchets) { $0.intersection($1) }
        return result
    }

    /// Returns the node secrets that `other` still has, or can still derive.
    private func secretsBelow(_ other: SecretTree) -> [Int: Secret] {
        self.nodeSecrets.filter { position, _ in
            let node = NodeIndex(position)
            return ([node] + self.shape.directPath(of: node)).contains { other.nodeSecrets[$0.value] != nil }
        }
    }

    /// Whether every leaf has either its ratchets or exactly one secret above it, and all keys fit the suite. Only a
    /// damaged stored form can make this false.
    var isWellFormed: Bool {
        guard TreeShape.isValid(leafCount: self.shape.leafCount) else { return false }
        var covered = Array(repeating: false, count: self.shape.leafCount)
        func cover(_ leaves: Range<Int>) -> Bool {
            for leaf in leaves {
                guard covered.indices.contains(leaf), !covered[leaf] else { return false }
                covered[leaf] = true
            }
            return true
        }
        for node in self.nodeSecrets.keys {
            guard node >= 0, node < self.shape.nodeCount, cover(NodeIndex(node).leafRange) else { return false }
        }
        for (leaf, ratchets) in self.ratchets {
            guard cover(Int(leaf)..<Int(leaf) + 1), ratchets.handshake.isWellFormed(self.cipherSuite),
                ratchets.application.isWellFormed(self.cipherSuite)
            else { return false }
        }
        return covered.allSatisfy { $0 }
    }

    private func prepare(_ leaf: LeafIndex) throws(MLSError) -> Change {
        if let ratchets = self.ratchets[leaf.rawValue] {
            return Change(leaf: leaf, ratchets: ratchets, nodeSecrets: [:])
        }
        guard leaf.rawValue < self.shape.leafCount else {
            throw MLSError(.invalidSender, "leaf \(leaf) is outside the tree of \(self.shape.leafCount)")
        }
        let path = [leaf.node] + self.shape.directPath(of: leaf.node)
        guard let start = path.firstIndex(where: { self.nodeSecrets[$0.value] != nil }),
            var secret = self.nodeSecrets[path[start].value]
        else { preconditionFailure("a leaf without ratchets must have a secret above it") }
        var changes: [Int: Secret?] = [path[start].value: Secret?.none]
        for position in stride(from: start - 1, through: 0, by: -1) {
            let (left, right) = self.children(secret)
            let child = path[position]
            let isLeft = child == path[position + 1].left
            changes[child.sibling.value] = .some(isLeft ? right : left)
            secret = isLeft ? left : right
        }
        return Change(leaf: leaf, ratchets: LeafRatchets(self.cipherSuite, leafSecret: secret), nodeSecrets: changes)
    }

    private func children(_ secret: Secret) -> (left: Secret, right: Secret) {
        let length = self.cipherSuite.hashLength
        return (
            self.cipherSuite.expandWithLabel(secret, "tree", context: Array("left".utf8), length: length),
            self.cipherSuite.expandWithLabel(secret, "tree", context: Array("right".utf8), length: length)
        )
    }
}
