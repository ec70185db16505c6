import TLSCodec

// struct {
//     uint16 version = 1;
//     opaque core<V>;
//     optional<Messages> messages;          absent if the base holds those of this epoch
//     struct { uint32 index; opaque node<V>; } nodes<V>;   where the trees differ; empty: blank
// } Difference;
//
// struct {
//     opaque epoch<V>;
//     struct { uint32 node; opaque secret<V>; } secrets<V>;
//     struct { uint32 leaf; opaque ratchets<V>; } ratchets<V>;
// } Messages;

/// Stored forms of values that are kept beside the one in use, to choose between branches.
extension MLSGroup {
    /// Returns the changes that lead from the stored form of another value of this group to this value's, and counts this
    /// value as stored. Unlike ``drainChanges()`` it compares, so the two may be of different branches.
    public mutating func drainChanges(from stored: StoredGroupBaseline) -> GroupStorageChanges {
        var records: [GroupRecord: Secret?] = [:]
        for name in self.allRecords.union(stored.digests.keys) {
            let content = self.content(of: name)
            if content.map(StoredGroupBaseline.digest(of:)) != stored.digests[name] { records[name] = .some(content) }
        }
        for index in self.tree.differences(from: stored.tree) {
            records[.node(index)] = .some(self.content(of: .node(index)))
        }
        self.changedRecords = []
        self.tree.markStored()
        return GroupStorageChanges(replacesAll: false, records: records)
    }

    /// Returns this value's difference from `base`, a value of this epoch, of the next one, or of the one before on the
    /// same branch. Message secrets that `base` holds are excluded, so that keys consumed there stay consumed, and so
    /// are those of past epochs, which `base` holds as long as they are needed.
    public func difference(from base: MLSGroup) -> Secret {
        var writer = TLSWriter(capacity: 4096)
        writer.write(UInt16(1))
        if let core = self.content(of: .core) { writer.writeSecret(core) }
        let isShared = base.messages(of: self.epoch)?.context == self.contextBytes
        writer.write(UInt8(isShared ? 0 : 1))
        if !isShared { self.encodeMessages(to: &writer) }
        writer.writeVector { writer in
            for index in self.tree.differences(from: base.tree) {
                writer.write(UInt32(index))
                if let node = self.content(of: .node(index)) {
                    writer.writeSecret(node)
                } else {
                    writer.writeOpaque([])
                }
            }
        }
        return writer.takeSecret()
    }

    private func encodeMessages(to writer: inout TLSWriter) {
        if let header = self.content(of: .epoch(self.epoch)) { writer.writeSecret(header) }
        let tree = self.messages.secretTree
        writer.writeVector { writer in
            for node in tree.nodeSecrets.keys.sorted() {
                guard let content = self.content(of: .treeSecret(epoch: self.epoch, node: node)) else { continue }
                writer.write(UInt32(node))
                writer.writeSecret(content)
            }
        }
        writer.writeVector { writer in
            for leaf in tree.ratchets.keys.sorted() {
                guard let content = self.content(of: .ratchets(epoch: self.epoch, leaf: leaf)) else { continue }
                writer.write(leaf)
                writer.writeSecret(content)
            }
        }
    }

    /// Restores a value from its ``difference(from:)``; throws `MLSError.Code.invalidStoredForm`. Equal nodes of the trees
    /// are shared with `base`.
    public init(_ difference: Secret, from base: MLSGroup) throws(MLSError) {
        let stored: StoredDifference
        do throws(TLSCodecError) { stored = try difference.decode(StoredDifference.init(from:)) } catch {
            throw MLSError(.invalidStoredForm, "difference between two values: \(error)")
        }
        let epoch = stored.core.context.epoch
        guard stored.core.context.groupID == base.groupID, stored.core.context.cipherSuite == base.cipherSuite,
            epoch == base.epoch || epoch.isFollowed(by: base.epoch) || base.epoch.isFollowed(by: epoch)
        else { throw MLSError(.invalidStoredForm, "the value of epoch \(epoch) does not match its base") }
        do {
            var tree = base.tree
            try tree.apply(stored.nodes, leafCount: stored.core.leafCount)
            try self.init(
                stored.core, tree: tree, messages: try Self.messages(stored, base),
                past: Self.past(before: epoch, base, tree, limit: stored.core.configuration.maximumPastEpochs))
        } catch { throw MLSError(.invalidStoredForm, error.message) }
    }

    private static func messages(_ stored: StoredDifference, _ base: MLSGroup) throws(MLSError) -> EpochMessages {
        let context = stored.core.context
        if !stored.messages.isEmpty {
            return try self.restoreMessages(stored.messages, context.cipherSuite, epoch: context.epoch)
        }
        guard var messages = base.messages(of: context.epoch), messages.context == context.tlsEncoded() else {
            throw MLSError(.invalidStoredForm, "the message secrets of epoch \(context.epoch) are missing")
        }
        messages.replacedLeaves = [:]
        return messages
    }

    /// Returns the message secrets of past epochs that `base` holds.
    private static func past(
        before epoch: Epoch, _ base: MLSGroup, _ tree: RatchetTree, limit: Int
    ) -> [EpochMessages] {
        var known = base.past
        if base.epoch < epoch {
            var ended = base.messages
            ended.replacedLeaves = base.tree.leavesReplaced(in: tree)
            known.insert(ended, at: 0)
        }
        return Array(known.filter { $0.epoch < epoch }.prefix(limit))
    }
}

/// The stored content of a value of a group: the tree, and digests of all other records instead of their secrets.
public struct StoredGroupBaseline: Sendable {
    let tree: RatchetTree
    private(set) var digests: [GroupRecord: [UInt8]] = [:]

    /// The stored form of this value.
    public init(_ group: MLSGroup) {
        self.tree = group.tree
        for name in group.allRecords { self.digests[name] = group.content(of: name).map(Self.digest(of:)) }
    }

    /// Records that changes of the same epoch were stored.
    public mutating func note(_ changes: GroupStorageChanges) {
        if changes.replacesAll { self.digests = [:] }
        for (name, content) in changes.records {
            if case .node = name { continue }
            self.digests[name] = content.map(Self.digest(of:))
        }
    }

    static func digest(of content: Secret) -> [UInt8] {
        var bytes = content.copyBytes()
        defer { bytes.wipe() }
        return SHA256Derivation.digest(bytes)
    }
}

/// The fields of a difference.
private struct StoredDifference {
    let core: StoredCore
    /// The records of the epoch's messages; empty if the base holds them.
    let messages: [GroupRecord: Secret]
    let nodes: [(index: Int, node: RatchetTree.Node)]

    init(from reader: inout TLSReader) throws(TLSCodecError) {
        let version = try reader.readUInt16()
        guard version == 1 else {
            throw TLSCodecError(.invalidValue, offset: 0, "the form has version \(version), this library reads 1")
        }
        self.core = try reader.readSecret().decode(StoredCore.init(from:))
        let epoch = self.core.context.epoch
        self.messages = try reader.readUInt8() == 0 ? [:] : Self.messages(from: &reader, of: epoch)
        self.nodes = try reader.readElements(Self.node(from:))
    }

    private static func node(
        from reader: inout TLSReader
    ) throws(TLSCodecError) -> (index: Int, node: RatchetTree.Node) {
        let index = Int(try reader.readUInt32())
        let content = try reader.readSecret()
        guard content.count > 0 else { return (index, .blank) }
        let node = try content.decode { (reader: inout TLSReader) throws(TLSCodecError) in
            try RatchetTree.node(from: &reader, isLeaf: index & 1 == 0)
        }
        return (index, node)
    }

    private static func messages(
        from reader: inout TLSReader, of epoch: Epoch
    ) throws(TLSCodecError) -> [GroupRecord: Secret] {
        var records: [GroupRecord: Secret] = [.epoch(epoch): try reader.readSecret()]
        let secrets = try Self.numbered(&reader)
        let ratchets = try Self.numbered(&reader)
        for (node, content) in secrets { records[.treeSecret(epoch: epoch, node: Int(node))] = content }
        for (leaf, content) in ratchets { records[.ratchets(epoch: epoch, leaf: leaf)] = content }
        return records
    }

    private static func numbered(_ reader: inout TLSReader) throws(TLSCodecError) -> [(UInt32, Secret)] {
        try reader.readElements { (inner: inout TLSReader) throws(TLSCodecError) in
            (try inner.readUInt32(), try inner.readSecret())
        }
    }
}

extension RatchetTree {
    /// Returns the indices at which this tree's node differs from another one's; beyond a tree's end nodes are blank.
    fileprivate func differences(from other: RatchetTree) -> [Int] {
        (0..<max(self.nodes.count, other.nodes.count)).filter { index in
            let own = index < self.nodes.count ? self.nodes[index] : .blank
            let others = index < other.nodes.count ? other.nodes[index] : .blank
            return !own.isSame(as: others)
        }
    }

    /// Returns the leaves of this tree (nil: blank) that another one replaces.
    fileprivate func leavesReplaced(in next: RatchetTree) -> [LeafIndex: LeafNode?] {
        var replaced: [LeafIndex: LeafNode?] = [:]
        for index in self.differences(from: next) where index & 1 == 0 {
            let leaf = LeafIndex(index / 2)
            replaced[leaf] = .some(self.leaf(leaf))
        }
        return replaced
    }

    /// Replaces nodes, and gives the tree its size.
    fileprivate mutating func apply(_ changes: [(index: Int, node: Node)], leafCount: Int) throws(MLSError) {
        guard TreeShape.isValid(leafCount: leafCount) else {
            throw MLSError(.invalidStoredForm, "the stored tree has \(leafCount) leaves, not a power of two")
        }
        // A larger tree must have a change in its right half, so a damaged form cannot allocate an oversized tree.
        let end = changes.map(\.index).max() ?? 0
        guard leafCount <= self.shape.leafCount || (leafCount..<2 * leafCount - 1).contains(end) else {
            throw MLSError(
                .invalidStoredForm, "the stored tree has \(leafCount) leaves, but its last changed node is \(end)")
        }
        while self.shape.leafCount < leafCount { self.extend() }
        for change in changes {
            guard self.nodes.indices.contains(change.index) else {
                throw MLSError(.invalidStoredForm, "the stored tree has a node \(change.index) outside of it")
            }
            self.set(change.node, at: NodeIndex(change.index))
        }
        if self.shape.leafCount > leafCount { self.truncate() }
        guard self.shape.leafCount == leafCount else {
            throw MLSError(
                .invalidStoredForm, "expected a tree with \(leafCount) leaves, found \(self.shape.leafCount)")
        }
    }
}

extension RatchetTree.Node {
    /// Whether two nodes have the same content.
    fileprivate func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.blank, .blank): return true
        case (.leaf(let own), .leaf(let other)): return own === other || own == other
        case (.parent(let own), .parent(let other)): return own === other || own.tlsEncoded() == other.tlsEncoded()
        default: return false
        }
    }
}
